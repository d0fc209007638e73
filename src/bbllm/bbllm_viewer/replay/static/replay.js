'use strict';
// Shows the plan and the conversation of an episode, and replays one that is on record; no request
// is made.
// Texts come from models, people and detectors: they only ever become text nodes.
//
//   const plan = new PlanRows(list);       // an <ol>
//   plan.show(rows);                       // of core.progress, as often as there is anything new
//   showTalk(before, after, sentences);    // of ShownEpisode; two <ol>, with the plan between them
//   const replay = new Replay(record, { box, view, plan, showers });      // replay.recording
//   replay.seek(timeS); replay.play(); replay.pause();
//
// A replay shows a moment by what was valid then: it looks values and rows up and folds nothing,
// so that backward is the same as forward and any moment is as far as the next one.

const MARKS = { pending: '○', running: '▶', done: '✓', passed: '–', failed: '✗', replaced: '↻', stopped: '■' };
const STATES = {
  pending: 'to do', running: 'under way', done: 'done', passed: 'passed: no action was found',
  failed: 'failed', replaced: 'replaced by a repair', stopped: 'stopped',
};

function el(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// An element of SVG: the policy of a page forbids styles that come with markup, not attributes.
function drawing(tag, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function count(n, word) { return `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`; }

function countsText(counts, clockS) {
  const { calls, repairs, most_repairs, remarks, most_remarks, models, tokens, robot_s } = counts;
  const most = repairs && most_repairs ? ` of ${most_repairs}` : '';
  const parts = [count(calls, 'call'), count(repairs, 'repair') + most];
  if (remarks) parts.push(`${count(remarks, 'remark')} of ${most_remarks}`);
  parts.push(count(models, 'model call'));
  if (tokens) parts.push(`${tokens.toLocaleString('en')} tokens`);
  parts.push(`${robot_s.toFixed(1)} s of the robot`);
  if (clockS !== undefined) parts.push(`${clockS.toFixed(1)} s on the clock`);
  return parts.join(' · ');
}

function leftText({ repairs, most_repairs, remarks, most_remarks }) {
  const parts = most_repairs ? [`${most_repairs - repairs} of ${count(most_repairs, 'repair')}`] : [];
  if (most_remarks) parts.push(`${most_remarks - remarks} of ${count(most_remarks, 'remark')}`);
  return parts.length ? `left: ${parts.join(', ')}` : '';
}

// --- The plan --------------------------------------------------------------------------------------

class PlanRows {
  // `calls` returns how many model calls a row has, and `open` shows them.
  constructor(list, { calls = () => 0, open } = {}) {
    this.list = list;
    this.calls = calls;
    this.open = open;
    this.shown = [];
    list.classList.add('plan-rows');
  }

  // Only rows that are not the same as before get a new node.
  show(rows) {
    for (const { node } of this.shown.splice(rows.length)) node.remove();
    const fresh = document.createDocumentFragment();
    let running = null;
    rows.forEach((row, place) => {
      const old = this.shown[place], calls = this.calls(place);
      if (old?.row === row && old.calls === calls) return;
      const node = this.node(row, place, calls);
      this.shown[place] = { row, calls, node };
      if (old) old.node.replaceWith(node); else fresh.append(node);
      if (row.state === 'running') running = node;
    });
    this.list.append(fresh);
    if (running) this.keepInSight(running);
  }

  node(row, place, calls) {
    const node = el('li', row.state);
    node.dataset.place = place;
    const mark = el('span', 'mark', MARKS[row.state]);
    mark.setAttribute('aria-hidden', 'true');
    const words = el('span');
    words.append(el('span', 'words', row.text), el('span', 'unseen', ` (${STATES[row.state]})`));
    if (row.call && row.call !== row.text) words.append(' ', el('span', 'call mono', row.call));
    if (row.note) words.append(el('span', 'note', row.note));
    const side = el('span', 'side');
    if (row.robot_s) side.append(el('span', '', `${row.robot_s.toFixed(1)} s`));
    if (calls) {
      const button = el('button', 'link', count(calls, 'model call'));
      button.type = 'button';
      button.addEventListener('click', () => this.open(place));
      side.append(button);
    }
    node.append(mark, el('span', 'number', row.index), words, side);
    if (row.state === 'running') node.setAttribute('aria-current', 'step');
    return node;
  }

  keepInSight(node) {
    const box = node.getBoundingClientRect(), { list } = this;
    if (list.scrollHeight > list.clientHeight + 1) {      // a list that scrolls by itself
      const frame = list.getBoundingClientRect();
      if (box.top < frame.top || box.bottom > frame.bottom) list.scrollTop += box.top - frame.top - frame.height / 3;
      return;
    }
    const isNear = box.top < innerHeight * 1.5 && box.bottom > -innerHeight * 0.5;
    const isHidden = box.bottom > innerHeight || box.top < 60;
    // Only for people who follow: whoever has scrolled away reads something else.
    if (isNear && isHidden && innerWidth > 860 && !document.activeElement.closest('input')) node.scrollIntoView({ block: 'nearest' });
  }
}

// --- The conversation --------------------------------------------------------------------------------

function bubble({ who, text, tone, note, options = [] }) {
  const node = el('li', `${who === 'robot' ? 'robot' : 'person'} ${tone}`);
  if (who !== 'robot' && who !== 'person') node.append(el('span', 'dim', `${who} `));
  node.append(el('span', 'unseen', who === 'robot' ? 'Robot: ' : 'Person: '), el('span', '', text));
  if (options.length) node.append(el('span', 'note dim', options.map((option, i) => `${i + 1} ${option}`).join(' · ')));
  if (note) node.append(el('span', 'note dim', note));
  return node;
}

// What was said before the plan was made, and since.
function showTalk(before, after, sentences) {
  const bubbles = (afterPlan) => sentences.filter((x) => x.after_plan === afterPlan).map(bubble);
  before.replaceChildren(...bubbles(false));
  after.replaceChildren(...bubbles(true));
}

// --- What is on record -----------------------------------------------------------------------------

// The last place of a sorted list whose item is not above a bound; -1 where there is none.
function lastPlace(list, bound, keyOf = (item) => item) {
  let low = -1, high = list.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (keyOf(list[middle]) <= bound) low = middle; else high = middle;
  }
  return low;
}

const momentOf = ([moment]) => moment;

class Recording {
  constructor(record) {
    this.times = record.times_s;
    this.lengthS = this.times.at(-1);
    this.values = record.values;
    this.totals = record.n_rows;
    this.marks = record.marks;
    this.talk = record.talk;
    this.rows = record.rows.map((history) => {
      let row = {};
      return history.map(([moment, changes]) => [moment, row = { ...row, ...changes }]);
    });
  }

  momentAt(timeS) { return Math.max(0, lastPlace(this.times, timeS)); }

  // The entry of a history that is valid at a moment: the same object as long as it is.
  entry(history, moment) { return history[lastPlace(history, moment, momentOf)]; }

  rowsAt(moment) {
    const total = this.entry(this.totals, moment)[1];
    return this.rows.slice(0, total).map((history) => this.entry(history, moment)[1]);
  }

  saidAt(moment) { return this.talk.slice(0, lastPlace(this.talk, moment, momentOf) + 1).map(([, sentence]) => sentence); }

  // When the step that a place shows at a moment begins; null where it never does.
  beginOf(place, moment) {
    const history = this.rows[place], { index } = this.entry(history, moment)[1];
    let at = lastPlace(history, moment, momentOf);
    const state = (i) => (history[i]?.[1].index === index ? history[i][1].state : undefined);
    while (state(at) === 'pending') at += 1;
    while (state(at - 1) !== undefined && state(at - 1) !== 'pending') at -= 1;
    return state(at) === 'running' ? history[at][0] : null;
  }
}

class RecordedMotion {
  static async of({ columns, scale, deltas }, rest) {
    const bytes = Uint8Array.from(atob(deltas), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    const numbers = new Int32Array(await new Response(stream).arrayBuffer());
    const motion = new RecordedMotion(), n = numbers.length / (columns.length + 1);
    for (let at = 0; at < numbers.length; at++) if (at % n) numbers[at] += numbers[at - 1];
    const part = (i) => numbers.subarray(i * n, (i + 1) * n);
    return Object.assign(motion, { rest, scale, times: part(0), columns: columns.map((column, i) => [column, part(i + 1)]) });
  }

  sampleAt(timeS) { return Math.max(0, lastPlace(this.times, timeS * 1e3 + 0.5)); }

  qpos(sample) {
    const qpos = [...this.rest];
    for (const [column, numbers] of this.columns) qpos[column] = numbers[sample] / this.scale;
    return qpos;
  }
}

// --- The controls -----------------------------------------------------------------------------------

const SPEEDS = [0.5, 1, 2, 4];
const LONGEST_FRAME_S = 0.25;     // a page that was hidden goes on where it was
const ICONS = {
  play: 'M5 3 L13 8 L5 13 Z', pause: 'M4 3 H7 V13 H4 Z M9 3 H12 V13 H9 Z',
  previous: 'M3 3 H5 V13 H3 Z M13 3 V13 L6 8 Z', next: 'M11 3 H13 V13 H11 Z M3 3 V13 L10 8 Z',
};
const LINES = { step: '0V10', failure: '0V5', repair: '5V10' };     // a repair often comes at once

function clock(timeS) {
  const tenths = Math.floor(timeS * 10 + 1e-6);
  return `${Math.floor(tenths / 600)}:${String(Math.floor(tenths / 10) % 60).padStart(2, '0')}.${tenths % 10}`;
}

class Replay {
  // `box` takes the controls, `view` is a View3D or null, and `showers` have a function for the
  // conversation, `talk`, and for each value that is shown, by its name.  `keys` is the part of the page in which keys are for the replay.
  constructor(record, { box, view, plan, showers, keys = document }) {
    Object.assign(this, { view, plan, showers });
    this.recording = new Recording(record);
    this.shown = {};
    this.timeS = 0;
    this.speed = 1;
    this.build(box, record);
    this.listen(keys);
    this.seek(0);
    if (record.motion) this.load(record);
  }

  async load({ motion, drawn }) {
    this.view.load(drawn);
    this.motion = await RecordedMotion.of(motion, drawn.qpos);
    this.seek(this.timeS);
  }

  seek(timeS) {
    const { recording, motion } = this;
    this.timeS = Math.min(recording.lengthS, Math.max(0, timeS));
    const moment = recording.momentAt(this.timeS);
    if (moment !== this.moment) this.showMoment(moment);
    const sample = motion?.sampleAt(this.timeS);
    if (sample !== this.sample) this.view.show(motion.qpos(sample));
    this.sample = sample;
    const text = `${clock(this.timeS)} / ${clock(recording.lengthS)}`;
    this.slider.value = this.timeS;
    this.slider.setAttribute('aria-valuetext', text);
    this.at.textContent = text;
  }

  showMoment(moment) {
    const { recording, shown } = this;
    this.moment = moment;
    for (const [name, history] of Object.entries(recording.values)) {
      const entry = recording.entry(history, moment);
      if (entry !== shown[name]) this.showers[name]?.(entry?.[1] ?? null);
      shown[name] = entry;
    }
    this.plan.show(recording.rowsAt(moment));
    const said = recording.saidAt(moment);
    if (said.length !== this.nSaid) this.showers.talk(said);
    this.nSaid = said.length;
  }

  play() {
    if (this.timeS >= this.recording.lengthS) this.seek(0);
    this.show('pause');
    let before = performance.now();
    const frame = (now) => {
      const passedS = Math.min(LONGEST_FRAME_S, Math.max(0, now - before) / 1e3);
      before = now;
      this.seek(this.timeS + this.speed * passedS);
      if (this.timeS >= this.recording.lengthS) this.pause(); else this.frame = requestAnimationFrame(frame);
    };
    this.frame = requestAnimationFrame(frame);
  }

  pause() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.show('play');
  }

  toggle() { if (this.frame) this.pause(); else this.play(); }

  // To the beginning of the next step, or of the one before; else to the end, or the begin.
  step(forward) {
    const times = this.steps, at = lastPlace(times, this.timeS);
    this.pause();
    if (forward) this.seek(times[at + 1] ?? this.recording.lengthS);
    else this.seek(times[times[at] < this.timeS ? at : at - 1] ?? 0);
  }

  build(box, record) {
    const { recording } = this;
    this.steps = recording.marks.filter(([, word]) => word === 'step').map(([moment]) => recording.times[moment]);
    const button = (icon, label, key, act) => {
      const node = el('button');
      const path = drawing('path', { d: ICONS[icon] });
      node.type = 'button';
      node.title = `${label} (${key})`;
      node.setAttribute('aria-label', label);
      node.append(drawing('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, path));
      node.addEventListener('click', act);
      return node;
    };
    this.button = button('play', 'Play', 'Space', () => this.toggle());
    this.button.classList.add('main');
    this.slider = el('input');
    Object.assign(this.slider, { type: 'range', min: 0, max: Math.ceil(recording.lengthS * 10) / 10, step: 0.1 });
    this.slider.setAttribute('aria-label', 'Time');
    this.slider.addEventListener('input', () => this.seek(Number(this.slider.value)));
    this.at = el('output', 'at');
    const speed = el('select');
    speed.setAttribute('aria-label', 'Speed');
    speed.append(...SPEEDS.map((value) => new Option(`${value} ×`, value, false, value === 1)));
    speed.addEventListener('change', () => { this.speed = Number(speed.value); });
    const track = el('div', 'track');
    track.append(this.drawMarks(), this.slider);
    const line = el('div', 'controls');
    line.append(
      button('previous', 'Previous step', '←', () => this.step(false)), this.button,
      button('next', 'Next step', '→', () => this.step(true)), this.at, speed);
    const key = el('p', 'key');
    for (const word of Object.keys(LINES)) {
      const n = recording.marks.filter((mark) => mark[1] === word).length;
      if (n) key.append(el('span', word, word === 'step' ? `${count(n, 'step')} begun` : count(n, word)));
    }
    if (record.longest_s) key.append(el('span', '', `waits above ${record.longest_s} s are shortened`));
    box.classList.add('scrubber');
    box.replaceChildren(track, line, key);
  }

  drawMarks() {
    const { recording } = this, paths = Object.entries(LINES).map(([word, line]) => {
      const places = recording.marks.filter((mark) => mark[1] === word)
        .map(([moment]) => 1000 * recording.times[moment] / (recording.lengthS || 1));
      // A pixel has one line, however many steps there are.
      const lines = [...new Set(places.map((x) => x.toFixed(1)))].map((x) => `M${x} ${line}`);
      return drawing('path', { d: lines.join(''), class: word });
    });
    return drawing('svg', { viewBox: '0 0 1000 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, ...paths);
  }

  show(icon) {
    this.button.querySelector('path').setAttribute('d', ICONS[icon]);
    const label = icon === 'play' ? 'Play' : 'Pause';
    this.button.setAttribute('aria-label', label);
    this.button.title = `${label} (Space)`;
  }

  listen(keys) {
    const acts = {
      ' ': () => this.toggle(), ArrowLeft: () => this.step(false), ArrowRight: () => this.step(true),
      Home: () => this.seek(0), End: () => this.seek(this.recording.lengthS),
    };
    keys.addEventListener('keydown', (event) => {
      const { key, target } = event, act = acts[key];
      if (!act || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      if (target.closest('input, select, textarea')) return;
      if (key === ' ' && target.closest('button, a, summary')) return;
      event.preventDefault();
      act();
    });
    this.plan.list.addEventListener('click', (event) => {
      const row = event.target.closest('li');
      if (!row || event.target.closest('button')) return;
      const moment = this.recording.beginOf(Number(row.dataset.place), this.moment);
      if (moment !== null) this.seek(this.recording.times[moment]);
    });
  }
}
