// Speech: a recording while the button is pressed becomes text in the field of words, where a person
// confirms it. A stop word stops the robot at once.
const RATE_HZ = 16000;
const $ = (id) => document.getElementById(id);
const button = $('speak');
let recorder = null;

function report(text, isFault = false) {
  $('told').textContent = text;
  $('told').className = isFault ? 'fault' : '';
}

async function begin() {
  if (recorder) return;
  recorder = 'opening';
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
    if (recorder !== 'opening') return stream.getTracks().forEach((track) => track.stop());
    const parts = [];
    recorder = new MediaRecorder(stream);
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onstop = () => {
      stream.getTracks().forEach((track) => track.stop());
      send(new Blob(parts));
    };
    recorder.start();
    button.setAttribute('aria-pressed', 'true');
    report('Recording; release the button to end.');
  } catch (error) {
    recorder = null;
    report(`The microphone cannot be used: ${error.message}`, true);
  }
}

function end() {
  if (recorder instanceof MediaRecorder) recorder.stop();
  recorder = null;
  button.setAttribute('aria-pressed', 'false');
}

async function send(blob) {
  report('Transcribing ...');
  try {
    const context = new OfflineAudioContext(1, 1, RATE_HZ);
    const sound = await context.decodeAudioData(await blob.arrayBuffer());
    const answer = await fetch('speech', { method: 'POST', body: wav(sound.getChannelData(0)) });
    const reply = await answer.json();
    if (!answer.ok) return report(reply.error, true);
    if (reply.stopped) return report(`Stopped: “${reply.text}”.`);
    if (!reply.text) return report('No speech was recognized.', true);
    $('words').value = reply.text;
    $('words').focus();
    report('Check the text, then send it.');
  } catch (error) {
    report(`The recording could not be used: ${error.message}`, true);
  }
}

function wav(samples) {
  const view = new DataView(new ArrayBuffer(44 + 2 * samples.length));
  const text = (at, value) => [...value].forEach((c, i) => view.setUint8(at + i, c.charCodeAt(0)));
  const number = (at, value) => view.setUint32(at, value, true);
  text(0, 'RIFF'); number(4, 36 + 2 * samples.length); text(8, 'WAVEfmt '); number(16, 16);
  view.setUint16(20, 1, true); view.setUint16(22, 1, true); number(24, RATE_HZ); number(28, 2 * RATE_HZ);
  view.setUint16(32, 2, true); view.setUint16(34, 16, true); text(36, 'data'); number(40, 2 * samples.length);
  samples.forEach((x, i) => view.setInt16(44 + 2 * i, 32767 * Math.max(-1, Math.min(1, x)), true));
  return view.buffer;
}

// Browsers offer no microphone to pages that come unencrypted from another machine.
if (navigator.mediaDevices && window.MediaRecorder) {
  button.hidden = false;
  button.addEventListener('pointerdown', (event) => { button.setPointerCapture(event.pointerId); begin(); });
  for (const kind of ['pointerup', 'pointercancel', 'blur']) button.addEventListener(kind, end);
  button.addEventListener('keydown', (event) => { if (event.key === ' ' && !event.repeat) begin(); });
  button.addEventListener('keyup', (event) => { if (event.key === ' ') end(); });
}
