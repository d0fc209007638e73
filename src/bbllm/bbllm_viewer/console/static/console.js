// The page of `bbllm console`.
// Texts come from models, people and detectors: they only ever become text nodes.  What is shown
// comes by one stream, `events`; what is asked for goes by a few requests.

const $ = (id) => document.getElementById(id);
// A click that was meant for what stood here before is no answer to a question that has just come.
const UNREAD_MS = 700;

function show(id, visible) { $(id).hidden = !visible; }

function list(id, texts) { $(id).replaceChildren(...texts.map((text) => el('li', '', text))); }

// --- What the page has received ------------------------------------------------------------------

const values = {};
let rows = [];
let lines = [];                 // of the journal
let inPage = 0;                 // how many of them have their nodes
let exchanges = new Map();      // place of a row, or -1 before the first: what was asked for it
let newest = null;              // the exchange that a reply belongs to

function reset() {
  rows = []; lines = []; inPage = 0; exchanges = new Map(); newest = null;
  $('events').replaceChildren();
}

let sends = false;              // whether a line was sent that is not in the conversation yet

// Whether the person looks at the end of the conversation, below which a narrow page has the scene.
function isAtEnd() {
  if (innerWidth > 860) return innerHeight + scrollY > document.documentElement.scrollHeight - 80;
  return Math.abs($('talk').getBoundingClientRect().bottom + $('words-form').offsetHeight - innerHeight) < 80;
}

function receive(message) {
  if (message.reset) reset();
  const follows = isAtEnd() || (sends && 'talk' in message.values);
  $('turns').append(...message.turns.map(turnNode));
  for (const line of message.events) takeLine(line);
  rows.length = Math.min(rows.length, message.n_rows);
  for (const [place, row] of message.rows) rows[place] = row;
  for (const [name, value] of Object.entries(message.values)) take(name, value);
  for (const id of ['stop', 'words-form']) show(id, true);
  plan.show(rows);
  showCounts();
  showState();
  if (message.values.task && !$('empty').hidden && !$('words').value) $('words').value = message.values.task;
  if (!follows) return;
  sends = false;
  if (innerWidth > 860) scrollTo(0, document.documentElement.scrollHeight);
  else $('talk').scrollIntoView({ block: 'end' });
}

function take(name, value) {
  values[name] = value;
  showers[name]?.(value);
}

// --- Lines of the journal ---------------------------------------------------------------------------

function takeLine(line) {
  lines.push(line);
  if (line.call) {
    newest = { call: line.call, reply: null };
    if (!exchanges.has(line.row)) exchanges.set(line.row, []);
    exchanges.get(line.row).push(newest);
  } else if (line.reply !== undefined && newest) {
    newest.reply = line.reply;
  }
}

function showCounts() {
  const come = lines.length;
  const clockS = come ? lines[come - 1].stamp_s - lines[0].stamp_s : 0;
  $('n-events').textContent = come ? `${come} events` : '';
  $('counts').textContent = values.counts ? countsText(values.counts, clockS) : '';
  $('left').textContent = values.running && values.counts ? leftText(values.counts) : '';
  showLines();
  showBefore();
}

// The nodes of lines are made when somebody looks, since an episode can have many thousands.
function showLines() {
  const parent = $('events');
  if (!parent.closest('details').open) return;
  const atEnd = parent.scrollHeight - parent.scrollTop - parent.clientHeight < 40;
  const fresh = document.createDocumentFragment();
  for (const item of lines.slice(inPage)) {
    const nodes = item.lines.map(([word, text]) => {
      const node = el('li', `kind-${item.kind}`), atS = item.stamp_s - lines[0].stamp_s;
      node.append(el('span', 'at', atS.toFixed(2)), el('span', 'kind', word), el('span', '', text));
      return node;
    });
    fresh.append(...nodes);
  }
  parent.append(fresh);
  inPage = lines.length;
  if (atEnd) parent.scrollTop = parent.scrollHeight;
}

// --- Prompts and replies -------------------------------------------------------------------------------

function askedFor(place) { return exchanges.get(place) ?? []; }

function showBefore() {
  const n = askedFor(-1).length;
  $('before').textContent = `${count(n, 'model call')} for goal and plan`;
  show('before', n > 0);
}

function openExchanges(place, title) {
  $('exchanges-title').textContent = title;
  $('exchanges-body').replaceChildren(...askedFor(place).flatMap(exchangeNodes));
  $('exchanges').showModal();
}

function exchangeNodes({ call, reply }) {
  const tokens = call.prompt_tokens + call.completion_tokens;
  const head = `${call.role} · ${call.model} · ${call.duration_s.toFixed(2)} s${tokens ? ` · ${tokens.toLocaleString('en')} tokens` : ''}`;
  const nodes = [el('h3', '', head), el('pre', '', reply || call.error || '(no reply)')];
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
      text.textContent = data.text ?? data.error ?? '';
      if (data.picture) {
        const picture = el('img');
        picture.src = data.picture;
        picture.alt = 'The picture that was sent';
        text.replaceWith(picture);
      }
    } catch {
      text.textContent = 'The console does not answer.';
    }
  }
}

// --- Values ----------------------------------------------------------------------------------------------

const showers = {
  robot(text) { $('robot').textContent = text; document.title = `bbllm ${text}`; },
  examples(texts) { $('examples').replaceChildren(...texts.map(exampleNode)); },
  episode({ models }) { show('empty', false); $('models').textContent = models; },
  talk(sentences) {
    // Options of the question that waits are buttons.
    const said = sentences.map((x) => (x.text === values.question?.text ? { ...x, options: [] } : x));
    showTalk($('said-before'), $('said-after'), said);
  },
  goal(texts) { list('goal', texts ?? []); },
  sub_goals(of) {
    const items = (of?.texts ?? []).map((text, i) => el('li', i === of.now ? 'now' : '', `${i + 1}. ${text}`));
    $('sub-goals').replaceChildren(...items);
    show('sub-goals', items.length > 0);
  },
  beliefs(of) {
    $('summary').textContent = of?.summary ?? '';
    list('beliefs', of?.lines ?? []);
    show('beliefs-part', Boolean(of));
  },
  scene: showScene,
  drawn: showDrawn,
  house: showHouse,
  ghosts(ghosts) { if (!view.problem) view.set({ ghosts }); },
  qpos(positions) { if (view.scene) view.show(positions); },
  request: showRequest,
  question: showQuestion,
  choices: showChoices,
  pictures: showPictures,
  nodes: showTrouble,
  fault: showTrouble,
  end: showTrouble,
};

// What the cameras saw last, with boxes around what was found.
function showPictures(pictures) {
  show('pictures-part', Object.keys(pictures).length > 0);
  $('pictures').replaceChildren(...Object.entries(pictures).map(([name, address]) => {
    const figure = el('figure'), picture = el('img');
    picture.src = address;
    picture.alt = `What ${name} saw last`;
    figure.append(picture, el('figcaption', 'dim', name));
    return figure;
  }));
}

function showChoices({ scenes, scene, models, model }) {
  $('scene').replaceChildren(...scenes.map((name) => new Option(name, name, false, name === scene)));
  $('models').replaceChildren(...models.map((name) => new Option(name)));
  $('model').value = model;
  show('choices', true);
}

function showDrawn(description) {
  if (view.problem) return;
  for (const id of ['canvas', 'names']) show(id, Boolean(description));
  view.layer.hidden = !description;
  if (!description) return;
  show('no-view', false);
  view.load(description);
}

// Rooms as lists: what is in and on what, and with a dashed line where a plan would leave it.
function showHouse(rooms) {
  const house = $('house');
  show('house', Boolean(rooms));
  show('objects', !rooms);
  if (!rooms) return house.replaceChildren();
  show('no-view', false);
  house.replaceChildren(...rooms.map((room) => {
    const node = el('section', 'room');
    node.append(el('h3', '', room.text.replaceAll('_', ' ')), ...houseLists(room));
    return node;
  }));
  const ghost = house.querySelector('.ghost');
  if (!ghost) return;
  house.prepend(el('p', 'dim', 'With a dashed line: where the plan would leave it.'));
  house.scrollTop += ghost.getBoundingClientRect().top - house.getBoundingClientRect().top - house.clientHeight / 3;
}

function houseLists({ style, upon, within }) {
  const on = style === 'room' ? '' : style === 'person' ? 'holds' : 'on';
  return [...houseList(upon, on), ...houseList(within, style === 'room' ? '' : 'in')];
}

// Items without contents share a line, the others have one each, with theirs below.
function houseList(items, word) {
  const isLeaf = ({ upon, within }) => !upon.length && !within.length;
  const line = (...shown) => {
    const node = el('p');
    if (word) node.append(el('span', 'dim', word));
    node.append(...shown.flatMap(houseItem));
    return node;
  };
  const leaves = items.filter(isLeaf), nodes = leaves.length ? [line(...leaves)] : [];
  for (const item of items.filter((each) => !isLeaf(each))) {
    const box = el('div');
    box.append(...houseLists(item));
    nodes.push(line(item), box);
  }
  return nodes;
}

function houseItem({ name, text, style, state, moved, turned, lit }) {
  const changed = moved || turned, node = el('span', `${style}${changed ? ' changed' : lit ? ' lit' : ''}`);
  node.append((changed || style === 'ghost') && text !== 'person' ? name : text);
  if (style === 'ghost') node.append(el('span', 'unseen', ' (would be here)'));
  return state ? [node, el('span', 'dim', state)] : [node];
}

function showScene(scene) {
  const movable = scene.objects.filter((item) => !['fixture', 'location', 'hand'].includes(item.kind));
  const rest = scene.objects.filter((item) => ['fixture', 'location'].includes(item.kind));
  $('objects').replaceChildren(...[...movable, ...rest].map((item) => {
    const node = el('li'), button = el('button');
    if (item.color && CSS.supports('color', item.color)) button.append(swatch(item.color));
    button.append(el('span', '', item.name));
    button.type = 'button';
    button.title = `${item.kind} at ${item.position_m.join(', ')} m`;
    button.setAttribute('aria-pressed', String(item.name === chosen));
    button.addEventListener('click', () => choose(item.name));
    for (const kind of ['mouseenter', 'focus']) button.addEventListener(kind, () => mark(item.name));
    for (const kind of ['mouseleave', 'blur']) button.addEventListener(kind, () => mark(chosen));
    node.append(button);
    return node;
  }));
  list('facts', scene.facts.map((fact) => fact.join(' ')));
  $('n-facts').textContent = scene.facts.length;
  show('held', Boolean(scene.held));
  $('held').textContent = `in the hand: ${scene.held}`;
}

let chosen = '';      // the object that shines in the view also when the pointer has gone

function mark(name) { if (!view.problem) view.set({ marked: name }); }

function choose(name) {
  chosen = name === chosen ? '' : name;
  mark(chosen);
  for (const button of $('objects').querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(button.textContent === chosen));
  }
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
  const text = request || values.question ? 'waits for your answer' : values.running ? values.activity : 'ready for a task';
  if ($('state').textContent !== text) $('state').textContent = text;
  $('state').className = request || values.question ? 'waits' : values.running ? 'runs' : '';
  // Before there is a plan, a question is what matters.
  show('plan-part', Boolean(values.episode) && (rows.length > 0 || !values.question));
  $('plan-title').textContent = rows.length ? 'Plan' : 'No plan';
  const [button, hint] = MODES[modeNow()];
  $('send').textContent = button;
  $('words').placeholder = hint;
}

// What a sentence in the one field is now.
const MODES = {
  task: ['Begin', 'What shall the robot do?'],
  remark: ['Send', 'A remark: the planner reads it before its next step'],
  answer: ['Answer', 'Your answer: a number, or in your words'],
  reason: ['Deny', 'Why not, or what instead: this denies the plan, and the planner reads it'],
};

function modeNow() {
  if (values.request) return 'reason';
  return values.question ? 'answer' : values.running ? 'remark' : 'task';
}

// --- The conversation ----------------------------------------------------------------------------------------

// A turn that is over: what was said, and its plan folded.
function turnNode({ talk, rows, counts, goal }) {
  const node = el('div', 'turn'), before = el('ol', 'said'), after = el('ol', 'said');
  showTalk(before, after, talk);
  node.append(before);
  if (rows.length) {
    const details = el('details', 'folded'), list = el('ol');
    details.append(el('summary', '', `Plan of ${count(rows.length, 'step')} · ${countsText(counts)}`));
    details.append(...(goal ?? []).map((text) => el('p', 'dim', `goal  ${text}`)), list);
    details.addEventListener('toggle', () => new PlanRows(list).show(rows), { once: true });
    node.append(details);
  }
  node.append(after);
  return node;
}

function exampleNode(text) {
  const item = el('li'), button = el('button', '', text);
  button.type = 'button';
  button.addEventListener('click', () => { $('words').value = text; $('words').focus(); });
  item.append(button);
  return item;
}

// --- Questions -----------------------------------------------------------------------------------------------

function showQuestion(question) {
  show('question', Boolean(question));
  $('options').replaceChildren(...(question?.options ?? []).map((option, i) => {
    const item = el('li'), button = el('button');
    button.type = 'button';
    button.append(el('span', 'dim', `${i + 1} `), el('span', '', option));
    button.addEventListener('click', () => ask('say', { text: option, question: question.text }, 'Answered.'));
    item.append(button);
    return item;
  }));
  if (!question) return;
  enableOptions(false);
  setTimeout(() => { if (values.question === question) enableOptions(true); }, UNREAD_MS);
  $('question').scrollIntoView({ block: 'nearest' });
  showLeft();
}

function enableOptions(enabled) {
  for (const button of $('options').querySelectorAll('button')) button.disabled = !enabled;
}

document.addEventListener('keydown', ({ key, target, ctrlKey, metaKey, altKey }) => {
  if (!/^[1-9]$/.test(key) || ctrlKey || metaKey || altKey || target.closest('input, select, dialog')) return;
  $('options').querySelectorAll('button')[key - 1]?.click();
});

// --- Approval ------------------------------------------------------------------------------------------------

let asked = '';

function showRequest(request) {
  show('approval', Boolean(request));
  $('plan-part').classList.toggle('asks', request?.kind === 'plan');
  const hash = request ? request.hash : '';
  $('approval-doubt').textContent = request ? request.doubt : '';
  if (!request || hash === asked) { asked = hash; return; }
  asked = hash;
  $('told').textContent = '';
  $('approval-title').textContent = request.title;
  $('approval-lines').replaceChildren(...request.lines.map(([mark, text]) => changeNode(mark, text)));
  $('approval-reason').textContent = request.reason ? `Why: ${request.reason}.` : '';
  $('approval-name').textContent = `${request.kind} ${hash.slice(0, 12)}`;
  $('approve').textContent = request.kind === 'resume' ? 'The robot may go on' : 'Approve';
  enableAnswers(false);
  setTimeout(() => { if (asked === hash) enableAnswers(true); }, UNREAD_MS);
  $('approval').scrollIntoView({ block: 'nearest' });
  showLeft();
}

const CHANGES = { done: '✓', kept: '', new: '+', dropped: '−' };

function changeNode(mark, text) {
  const node = el('li', mark), sign = el('span', 'sign', CHANGES[mark] ?? '');
  sign.setAttribute('aria-hidden', 'true');
  node.append(sign, el('span', 'words', text));
  if (CHANGES[mark]) node.append(el('span', 'unseen', ` (${mark})`));
  return node;
}

function showLeft() {
  const question = values.question;
  if (question) $('question-left').textContent = `waits ${Math.max(0, Math.round(question.until_s - Date.now() / 1000))} s more`;
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
  const sent = await ask('answer', { hash, granted, reason }, done);
  if (!sent && asked === hash) enableAnswers(true);
  return sent;
}

// --- What the person asks for -------------------------------------------------------------------------------

async function ask(what, data, done) {
  const told = $('told');
  told.className = '';
  if (what !== 'say') told.textContent = '';
  try {
    const answer = await fetch(what, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(data),
    });
    const reply = await answer.json();
    const fault = answer.ok ? '' : reply.error;
    told.textContent = fault || reply.told || done;
    told.className = fault ? 'fault' : '';
    return answer.ok;
  } catch {
    told.textContent = 'The console does not answer, so nothing was sent. To stop the robot, use its own stop button.';
    told.className = 'fault';
    return false;
  }
}

// Words never approve: they are read quickly and mean much, a button means one thing.
const CONSENT = /^(y|yes|yeah|yep|ok|okay|sure|go|go ahead|do it|approved?|fine|ja|oui|si|sí)[.! ]*$/i;

function refuseWords(text) {
  $('told').textContent = text;
  $('told').className = 'fault';
}

$('words-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const text = $('words').value, mode = modeNow(), question = values.question?.text ?? '';
  if (mode === 'reason') {
    if ($('deny').disabled) return;
    if (CONSENT.test(text.trim())) return refuseWords('Press Approve to allow this; words here deny it.');
  }
  $('words').value = '';
  sends = true;
  if (mode === 'remark') $('told').textContent = 'Sent; waits for the planner ...';
  const sent = await {
    task: () => ask('task', { task: text }, ''),
    remark: () => ask('say', { text, question: '' }, 'Sent.'),
    answer: () => ask('say', { text, question }, 'Answered.'),
    reason: () => answer(false, text.slice(0, 500), 'Denied.'),
  }[mode]();
  if (!sent && !$('words').value) $('words').value = text;
});
$('stop').addEventListener('click', () => ask('stop', {}, 'Stopped. The hand keeps what it holds.'));
$('approve').addEventListener('click', () => answer(true, '', 'Approved.'));
$('deny').addEventListener('click', () => answer(false, '', 'Denied.'));
$('choices').addEventListener('submit', async (event) => {
  event.preventDefault();
  $('told').textContent = 'Begins anew ...';
  await ask('choose', { scene: $('scene').value, model: $('model').value }, 'The scene is as its file has it.');
});
$('before').addEventListener('click', () => openExchanges(-1, 'Goal and plan'));
$('events').closest('details').addEventListener('toggle', () => {
  showCounts();
  $('events').scrollTop = $('events').scrollHeight;
});
setInterval(showLeft, 1000);

// --- The view ---------------------------------------------------------------------------------------------------

show('canvas', false);
export const view = new View3D($('canvas'));
if (view.problem) $('no-view').textContent = view.problem;
if (!view.problem) read('meshes').then((meshes) => { if (meshes.shapes) view.dress(meshes); });
$('names').addEventListener('click', () => {
  const names = $('names').getAttribute('aria-pressed') !== 'true';
  $('names').setAttribute('aria-pressed', String(names));
  view.set({ names });
});

// --- Episodes on record ----------------------------------------------------------------------------

async function read(address) {
  try {
    const answer = await fetch(address), data = await answer.json();
    return answer.ok ? data : { error: data.error };
  } catch {
    return { error: 'The console does not answer.' };
  }
}

$('list').addEventListener('click', async () => {
  $('episodes-list').replaceChildren(el('li', 'dim', '…'));
  $('episodes').showModal();
  const entries = await read('episodes');
  const nodes = entries.error ? [el('li', 'fault', entries.error)] : entries.map(([id, ending, task]) => {
    const node = el('li'), button = el('button', 'link', task);
    button.type = 'button';
    button.addEventListener('click', () => replay(id, task));
    node.append(button, el('span', 'dim', ` ${ending} · ${id}`));
    return node;
  });
  $('episodes-list').replaceChildren(...(nodes.length ? nodes : [el('li', 'dim', 'None yet.')]));
});

let replayed = null;

async function replay(id, task) {
  const record = await read(`record?id=${encodeURIComponent(id)}`);
  for (const part of ['view', 'controls', 'rows', 'before', 'after']) $(`past-${part}`).replaceChildren();
  $('past-title').textContent = task;
  $('past-now').textContent = record.error ?? '';
  $('past').showModal();
  if (record.error) return;
  const now = (text) => { if (text) $('past-now').textContent = text; };
  const showers = {
    activity: now, ending: (of) => now(of?.text),
    talk(sentences) { showTalk($('past-before'), $('past-after'), sentences); },
  };
  const shown = new PlanRows($('past-rows')), canvas = el('canvas');
  shown.list.classList.add('replayed');
  if (record.motion) $('past-view').append(canvas);
  const pastView = record.motion ? new View3D(canvas) : null;
  replayed = new Replay(record, { box: $('past-controls'), view: pastView, plan: shown, showers, keys: $('past') });
  replayed.play();
}

$('past').addEventListener('close', () => {
  replayed?.pause();
  replayed?.view?.gl?.getExtension('WEBGL_lose_context')?.loseContext();     // a browser has few of them
  replayed = null;
});

// --- The plan --------------------------------------------------------------------------------------

const plan = new PlanRows($('rows'), {
  calls: (place) => askedFor(place).length,
  open: (place) => openExchanges(place, plan.shown[place].row.text),
});

// --- The stream -------------------------------------------------------------------------------------------------

reset();
let stream = null;

// A browser has six connections to a server, and a stream keeps one. So a page that nobody sees has
// none: six tabs would keep Stop waiting in each of them.
function listen() {
  stream?.close();
  stream = null;
  if (document.hidden) return;
  stream = new EventSource('events');
  stream.addEventListener('open', () => {
    connected = true;
    $('turns').replaceChildren();     // a stream begins with all that there is
    delete values.end;
    showTrouble();
  });
  stream.addEventListener('error', () => { connected = false; show('stop', true); showTrouble(); });
  stream.addEventListener('message', (message) => receive(JSON.parse(message.data)));
}

document.addEventListener('visibilitychange', listen);
listen();
