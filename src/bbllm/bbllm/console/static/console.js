// The page of `bbllm console`.  Texts come from models, people and detectors: they only ever become
// text nodes.  What is shown comes by one stream, `events`; what is asked for goes by four requests.

const $ = (id) => document.getElementById(id);
const MARKS = { pending: '○', running: '▶', done: '✓', passed: '–', failed: '✗', replaced: '↻', stopped: '■' };
const STATES = {
  pending: 'to do', running: 'under way', done: 'done', passed: 'passed: no action was found',
  failed: 'failed', replaced: 'replaced by a repair', stopped: 'stopped',
};
// A click that was meant for what stood here before is no answer to a question that has just come.
const UNREAD_MS = 700;

function el(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function show(id, visible) { $(id).hidden = !visible; }

function count(n, word) { return `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`; }

function list(id, texts) { $(id).replaceChildren(...texts.map((text) => el('li', '', text))); }

// --- What the page has received ------------------------------------------------------------------

const values = {};
let rows = [];
let exchanges = new Map();      // place of a row, or -1 before the first: what was asked for it
let newest = null;              // the exchange that a reply belongs to
let counts = {};
let startedS = 0;
let subGoals = [];
let repairs = new Map();         // place of a row: which repair replaced it

function reset() {
  rows = []; exchanges = new Map(); repairs = new Map(); newest = null; subGoals = []; startedS = 0;
  counts = { events: 0, calls: 0, repairs: 0, models: 0, tokens: 0, robotS: 0, lastS: 0 };
  for (const id of ['rows', 'events', 'goal', 'sub-goals', 'beliefs']) $(id).replaceChildren();
  for (const id of ['instruction', 'models', 'ending', 'summary', 'counts', 'n-events']) $(id).textContent = '';
  $('ending').className = '';
  show('before', false); show('beliefs-part', false); show('sub-goals', false);
}

function receive(message) {
  if (message.reset) reset();
  for (const event of message.events) takeEvent(event);
  takeRows(message.rows, message.n_rows);
  Object.assign(values, message.values);
  for (const name of Object.keys(message.values)) showers[name]?.(values[name]);
  showState();
  if (message.events.length) showCounts();
}

// --- Rows of the plan ------------------------------------------------------------------------------

function takeRows(changed, total) {
  const parent = $('rows');
  rows.length = Math.min(rows.length, total);
  while (parent.children.length > total) parent.lastChild.remove();
  let fresh = document.createDocumentFragment();
  const begin = parent.children.length;
  for (const [place, row] of changed) {
    rows[place] = row;
    const node = rowNode(place, row);
    if (place < begin) parent.children[place].replaceWith(node); else fresh.append(node);
    if (row.state === 'running' && place < begin) keepInSight(node);
  }
  parent.append(fresh);
}

function rowNode(place, row) {
  const node = el('li', row.state);
  node.dataset.place = place;
  const mark = el('span', 'mark', MARKS[row.state]);
  mark.setAttribute('aria-hidden', 'true');
  const words = el('span');
  words.append(el('span', 'words', row.text), el('span', 'hidden', ` (${STATES[row.state]})`));
  if (row.call && row.call !== row.text) words.append(el('span', 'call mono', row.call));
  if (row.note) words.append(el('span', 'note', repairs.has(place) ? `Repair ${repairs.get(place)}: ${row.note}` : row.note));
  const side = el('span', 'side');
  if (row.robot_s) side.append(el('span', '', `${row.robot_s.toFixed(1)} s`));
  if (exchanges.has(place)) side.append(exchangeButton(place));
  node.append(mark, el('span', 'number', row.index), words, side);
  if (row.state === 'running') node.setAttribute('aria-current', 'step');
  return node;
}

function keepInSight(node) {
  const box = node.getBoundingClientRect();
  const isNear = box.top < innerHeight * 1.5 && box.bottom > -innerHeight * 0.5;
  const isHidden = box.bottom > innerHeight || box.top < 60;
  // Only for people who follow: whoever has scrolled away reads something else.
  if (isNear && isHidden && innerWidth > 860 && !document.activeElement.closest('input')) node.scrollIntoView({ block: 'nearest' });
}

// --- Events --------------------------------------------------------------------------------------------

const takers = {
  started(data, event) {
    startedS = event.stamp_s;
    $('instruction').textContent = data.task;
    $('models').textContent = `${data.planner} · Brain ${data.brain} · Body ${data.body} · ${data.episode_id}`;
  },
  goal(data) { list('goal', data.conditions.length ? data.conditions : [`not checked: ${data.why}`]); },
  outcome(data) { counts.calls += 1; counts.robotS += data.duration_s; },
  repair(data, event) { counts.repairs += 1; repairs.set(event.row, data.loop); },
  model_call(data, event) {
    counts.models += 1;
    counts.tokens += data.prompt_tokens + data.completion_tokens;
    newest = { call: data, reply: null };
    if (!exchanges.has(event.row)) exchanges.set(event.row, []);
    exchanges.get(event.row).push(newest);
    if (event.row < 0) showBefore(); else offerExchanges(event.row);
  },
  model_text(data) { if (newest) newest.reply = data.text; },
  sub_goal(data) {
    subGoals[data.index] = data.text;
    const items = Array.from({ length: data.of }, (_, i) => el('li', i === data.index ? 'now' : '', `${i + 1}. ${subGoals[i] ?? '…'}`));
    $('sub-goals').replaceChildren(...items);
    show('sub-goals', true);
  },
  estimated(data) {
    $('summary').textContent = data.summary;
    list('beliefs', Object.entries(data.attributes).map(([name, of]) => `${name}: ${of.join(', ') || 'nothing yet'}`));
    show('beliefs-part', true);
  },
  ended(data) {
    const goal = data.goal ? ` · goal ${data.goal}` : '';
    $('ending').textContent = `${data.ending.replaceAll('_', ' ').toLowerCase()}${goal}${data.message ? `: ${data.message}` : ''}`;
    $('ending').className = data.ending === 'FINISHED' ? 'good' : 'bad';
  },
};

const waiting = [];     // lines of the journal that are not in the page yet

function takeEvent(event) {
  counts.events += 1;
  counts.lastS = event.stamp_s;
  takers[event.kind]?.(event.data, event);
  waiting.push(event);
}

function showEvents() {
  if (!waiting.length) return;
  const parent = $('events');
  const atEnd = parent.scrollHeight - parent.scrollTop - parent.clientHeight < 40;
  const fresh = document.createDocumentFragment();
  for (const event of waiting.splice(0)) {
    for (const [word, text] of event.lines) {
      const line = el('li', `kind-${event.kind}`);
      line.append(el('span', 'at', (event.stamp_s - startedS).toFixed(2)), el('span', 'kind', word), el('span', '', text));
      fresh.append(line);
    }
  }
  parent.append(fresh);
  if (atEnd) parent.scrollTop = parent.scrollHeight;
}

function showCounts() {
  const parts = [count(counts.calls, 'call'), count(counts.repairs, 'repair'), count(counts.models, 'model call')];
  if (counts.tokens) parts.push(`${counts.tokens.toLocaleString('en')} tokens`);
  parts.push(`${counts.robotS.toFixed(1)} s of the robot`, `${(counts.lastS - startedS).toFixed(1)} s on the clock`);
  $('counts').textContent = parts.join(' · ');
  $('n-events').textContent = `${counts.events} events`;
  showEvents();
}

// --- Prompts and replies -------------------------------------------------------------------------------

function countOf(place) {
  return count(exchanges.get(place).length, 'model call');
}

function exchangeButton(place) {
  const button = el('button', 'link', countOf(place));
  button.type = 'button';
  button.addEventListener('click', () => openExchanges(place, rows[place]?.text ?? ''));
  return button;
}

function offerExchanges(place) {
  const side = $('rows').children[place]?.querySelector('.side');
  if (!side) return;      // its row comes with this message, and shows them
  side.querySelector('button')?.remove();
  side.append(exchangeButton(place));
}

function showBefore() {
  $('before').textContent = `${countOf(-1)} for goal and plan`;
  $('before').onclick = () => openExchanges(-1, 'Goal and plan');
  show('before', true);
}

function openExchanges(place, title) {
  $('exchanges-title').textContent = title;
  $('exchanges-body').replaceChildren(...exchanges.get(place).flatMap(exchangeNodes));
  $('exchanges').showModal();
}

function exchangeNodes({ call, reply }) {
  const tokens = call.prompt_tokens + call.completion_tokens;
  const head = `${call.role} · ${call.model} · ${call.duration_s.toFixed(2)} s${tokens ? ` · ${tokens.toLocaleString('en')} tokens` : ''}`;
  const nodes = [el('h3', '', head), el('pre', '', reply ?? call.error ?? '(no reply)')];
  if (!reply && call.error) nodes[1].textContent = call.error;
  if (call.prompt.length) {
    const details = el('details');
    details.append(el('summary', '', `Prompt: ${call.prompt.map((part) => part.role).join(', ')}`));
    details.addEventListener('toggle', () => fillPrompt(details, call.prompt), { once: true });
    nodes.push(details);
  }
  return nodes;
}

async function fillPrompt(details, prompt) {
  for (const part of prompt) {
    const text = el('pre', '', '…');
    details.append(el('h3', '', part.role), text);
    try {
      const answer = await fetch(`prompt?hash=${encodeURIComponent(part.hash)}`);
      const data = await answer.json();
      text.textContent = data.text ?? data.error;
    } catch {
      text.textContent = 'The console does not answer.';
    }
  }
}

// --- Values ----------------------------------------------------------------------------------------------

const showers = {
  robot(text) { $('robot').textContent = text; document.title = `bbllm ${text}`; },
  task(text) { if (!$('task').value) $('task').value = text; },
  scene: showScene,
  drawn(description) { if (!view.problem) { show('canvas', true); show('no-view', false); view.load(description); } },
  qpos(positions) { if (view.scene) view.show(positions); },
  request: showRequest,
  nodes: showTrouble,
  fault: showTrouble,
  end: showTrouble,
};

function showScene(scene) {
  const movable = scene.objects.filter((item) => !['fixture', 'location', 'hand'].includes(item.kind));
  const rest = scene.objects.filter((item) => ['fixture', 'location'].includes(item.kind));
  $('objects').replaceChildren(...[...movable, ...rest].map((item) => {
    const node = el('li');
    if (item.color && CSS.supports('color', item.color)) node.append(swatch(item.color));
    node.append(el('span', '', item.name));
    node.title = `${item.kind} at ${item.position_m.join(', ')} m`;
    return node;
  }));
  list('facts', scene.facts.map((fact) => fact.join(' ')));
  $('n-facts').textContent = scene.facts.length;
  show('held', Boolean(scene.held));
  $('held').textContent = `in the hand: ${scene.held}`;
}

function swatch(color) {
  // An attribute of SVG, since the policy of the page forbids styles that come with markup.
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const circle = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
  for (const [name, value] of [['cx', 5], ['cy', 5], ['r', 4.5], ['fill', color]]) circle.setAttribute(name, value);
  svg.setAttribute('viewBox', '0 0 10 10');
  svg.setAttribute('aria-hidden', 'true');
  svg.append(circle);
  return svg;
}

let connected = false;

function showTrouble() {
  const nodes = values.nodes ?? {};
  const missing = nodes.missing?.length && !nodes.text ? `These nodes do not answer: ${nodes.missing.join(', ')}.` : '';
  const away = connected || values.end ? '' : 'The console does not answer: its process has ended, or the connection is lost. Trying again …';
  const texts = [values.end, away, nodes.text, missing, values.fault].filter(Boolean);
  $('trouble').textContent = texts.join('\n');
  show('trouble', texts.length > 0);
}

function showState() {
  const request = values.request;
  const text = request ? 'waits for your answer' : values.running ? values.activity : 'ready for a task';
  if ($('state').textContent !== text) $('state').textContent = text;
  $('state').className = request ? 'waits' : values.running ? 'runs' : '';
  const busy = Boolean(values.running);
  $('task-form').querySelector('button').disabled = busy;
  $('say-form').querySelector('button').disabled = !busy;
}

// --- Approval ------------------------------------------------------------------------------------------------

let asked = '';

function showRequest(request) {
  show('approval', Boolean(request));
  const hash = request ? request.hash : '';
  if (!request || hash === asked) { asked = hash; return; }
  asked = hash;
  $('told').textContent = '';
  $('approval-title').textContent = request.title;
  list('approval-lines', request.lines);
  list('approval-conditions', request.goal);
  show('approval-goal', request.goal.length > 0);
  $('approval-reason').textContent = request.reason ? `Why: ${request.reason}.` : '';
  $('approval-name').textContent = `${request.kind} ${hash.slice(0, 12)}`;
  $('approve').textContent = request.kind === 'resume' ? 'The robot may go on' : 'Approve';
  $('reason').value = '';
  enableAnswers(false);
  setTimeout(() => { if (asked === hash) enableAnswers(true); }, UNREAD_MS);
  showLeft();
}

function showLeft() {
  const request = values.request;
  if (!request) return;
  const leftS = Math.max(0, request.since_s + request.timeout_s - Date.now() / 1000);
  const at = new Date(request.since_s * 1000).toLocaleTimeString();
  $('approval-left').textContent = `asked at ${at}, waits ${Math.round(leftS)} s more`;
}

function enableAnswers(enabled) { for (const id of ['approve', 'deny']) $(id).disabled = !enabled; }

async function answer(granted, reason, done) {
  const hash = asked;
  enableAnswers(false);
  if (!(await ask('answer', { hash, granted, reason }, done)) && asked === hash) enableAnswers(true);
}

// --- What the person asks for -------------------------------------------------------------------------------

async function ask(what, data, done) {
  const told = $('told');
  told.className = '';
  told.textContent = '';
  try {
    const answer = await fetch(what, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(data),
    });
    const fault = answer.ok ? '' : (await answer.json()).error;
    told.textContent = fault || done;
    told.className = fault ? 'fault' : '';
    return answer.ok;
  } catch {
    told.textContent = 'The console does not answer, so nothing was sent. To stop the robot, use its own stop button.';
    told.className = 'fault';
    return false;
  }
}

$('task-form').addEventListener('submit', (event) => {
  event.preventDefault();
  ask('task', { task: $('task').value }, '');
});
$('say-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  if (await ask('say', { text: $('say').value }, 'Sent. The planner reads it before its next step.')) $('say').value = '';
});
$('stop').addEventListener('click', () => ask('stop', {}, 'Stopped. The hand keeps what it holds.'));
$('approve').addEventListener('click', () => answer(true, '', 'Approved.'));
$('approval-form').addEventListener('submit', (event) => {
  event.preventDefault();
  if (!$('deny').disabled) answer(false, $('reason').value, 'Denied.');
});
$('events').closest('details').addEventListener('toggle', () => { $('events').scrollTop = $('events').scrollHeight; });
setInterval(showLeft, 1000);

// --- The view ---------------------------------------------------------------------------------------------------

show('canvas', false);
export const view = new View3D($('canvas'));
if (view.problem) $('no-view').textContent = view.problem;

// --- The stream -------------------------------------------------------------------------------------------------

reset();
const stream = new EventSource('events');
stream.addEventListener('open', () => { connected = true; delete values.end; showTrouble(); });
stream.addEventListener('error', () => { connected = false; showTrouble(); });
stream.addEventListener('message', (message) => receive(JSON.parse(message.data)));
