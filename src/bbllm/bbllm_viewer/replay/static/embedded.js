// The replay inside the page of an episode, which is one file: its record stands in the page.

(() => {
  const $ = (name) => document.getElementById(`replay-${name}`);
  const record = JSON.parse($('record').textContent);
  const lines = (name, texts) => {
    $(name).replaceChildren(...texts.map((text) => el('li', '', text)));
    $(name).hidden = !texts.length;
  };
  const say = (text, tone) => { $('now').textContent = text; $('now').className = tone; };
  let activity = '', ending = null;
  const showNow = () => say(ending ? ending.text : activity, ending ? (ending.good ? 'good' : 'bad') : 'runs');
  const showers = {
    talk(sentences) { showTalk($('said-before'), $('said-after'), sentences); },
    activity(text) { activity = text; showNow(); },
    ending(of) { ending = of; showNow(); },
    counts(counts) { $('counts').textContent = counts ? countsText(counts) : ''; },
    sub_goals(of) { lines('sub-goals', (of?.texts ?? []).map((text, i) => `${i === of.now ? '▶ ' : ''}${i + 1}. ${text}`)); },
    beliefs(of) { lines('beliefs', of ? [of.summary, ...of.lines].filter(Boolean) : []); },
  };
  $('stage').hidden = false;
  const view = record.motion ? new View3D($('canvas')) : null;
  $('canvas').hidden = !view || Boolean(view.problem);
  $('stage').classList.toggle('flat', !view);
  if (view?.problem) $('note').textContent = view.problem;
  $('note').hidden = !$('note').textContent;
  const plan = new PlanRows($('rows'));
  plan.list.classList.add('replayed');
  const replay = new Replay(record, { box: $('controls'), view, plan, showers, keys: $('stage') });
  // At once, so that a visitor sees something happen; people who asked for less motion begin it.
  if (!matchMedia('(prefers-reduced-motion: reduce)').matches) replay.play();
})();
