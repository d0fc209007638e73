'use strict';
// Draws an arm and its objects with WebGL 2 and nothing else; no request is made.
//
//   const view = new View3D(canvas);   // view.problem is a sentence where nothing can be drawn
//   view.load(description);            // DrawnScene.description
//   view.show(qpos);                   // DrawnScene.qpos, at any rate
//   view.dress(meshes);                // meshes.robot_meshes: real shapes in place of plain ones
//   view.set({ names: true, marked: 'red_cube', ghosts: [['red_cube', pose]] });
//
// Names stand in a layer over the canvas, with the ring of what the arm reaches below them. What is
// marked shines; a ghost is an object where a plan would leave it, by the seven numbers of its pose.
//
// Quaternions are w, x, y, z and matrices column by column. z points up.

const quatTimes = ([a, b, c, d], [e, f, g, h]) => [
  a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
  a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e];

const rotated = ([w, x, y, z], [a, b, c]) => {
  const p = 2 * (y * c - z * b), q = 2 * (z * a - x * c), r = 2 * (x * b - y * a);
  return [a + w * p + y * r - z * q, b + w * q + z * p - x * r, c + w * r + x * q - y * p];
};

const plus = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => times(a, 1 / (Math.hypot(...a) || 1));

const matrixTimes = (m, n) => {
  const out = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      for (let k = 0; k < 4; k++) out[4 * column + row] += m[4 * k + row] * n[4 * column + k];
    }
  }
  return out;
};

const poseMatrix = (pos, quat, scale) => {
  const [x, y, z] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((axis) => rotated(quat, axis));
  return [
    ...times(x, scale[0]), 0, ...times(y, scale[1]), 0, ...times(z, scale[2]), 0, ...pos, 1];
};

const lookAt = (eye, target) => {
  const back = unit(minus(eye, target));
  const right = unit(cross([0, 0, 1], back)), up = cross(back, right);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  return [
    right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1];
};

const perspective = (fov, aspect, near, far) => {
  const f = 1 / Math.tan(fov / 2);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1,
    0, 0, 2 * far * near / (near - far), 0];
};

// Surfaces of extent -1 to 1, as triangles of point and normal.
const boxTriangles = () => {
  const out = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]]) {
        const point = [0, 0, 0], normal = [0, 0, 0];
        point[axis] = normal[axis] = side;
        point[(axis + 1) % 3] = u * side;
        point[(axis + 2) % 3] = v;
        out.push(...point, ...normal);
      }
    }
  }
  return out;
};

const roundTriangles = (point, rows, columns) => {
  const out = [];
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      for (const [a, b] of [[0, 0], [0, 1], [1, 1], [0, 0], [1, 1], [1, 0]]) {
        out.push(...point((i + a) / rows, 2 * Math.PI * (j + b) / columns));
      }
    }
  }
  return out;
};

const sphereTriangles = () => roundTriangles((u, turn) => {
  const z = -Math.cos(Math.PI * u), r = Math.sin(Math.PI * u);
  const point = [r * Math.cos(turn), r * Math.sin(turn), z];
  return [...point, ...point];
}, 16, 32);

const tubeTriangles = () => roundTriangles(
  (u, turn) => [Math.cos(turn), Math.sin(turn), 2 * u - 1, Math.cos(turn), Math.sin(turn), 0],
  1, 32);

const lidTriangles = () => [-1, 1].flatMap((side) => roundTriangles(
  (u, turn) => [u * Math.cos(turn), -u * Math.sin(turn) * side, side, 0, 0, side], 1, 32));

// A thin ring of radius 1 on the table.
const ringTriangles = () => roundTriangles((u, turn) => {
  const r = 0.992 + 0.008 * u;
  return [r * Math.cos(turn), r * Math.sin(turn), 0, 0, 0, 1];
}, 1, 128);

// A surface from view3d/meshes.py, with the normal of each point between those of its faces.
const meshTriangles = ({ points, faces }) => {
  const numbers = (text, Kind) => new Kind(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
  const at = Float32Array.from(numbers(points, Int16Array), (x) => x * 1e-4), corners = numbers(faces, Uint16Array);
  const point = (i) => at.subarray(3 * i, 3 * i + 3), normals = new Float32Array(at.length), out = [];
  for (let face = 0; face < corners.length; face += 3) {
    const [a, b, c] = corners.subarray(face, face + 3), normal = cross(minus(point(b), point(a)), minus(point(c), point(a)));
    for (const i of [a, b, c]) normal.forEach((x, axis) => { normals[3 * i + axis] += x; });
  }
  for (const i of corners) out.push(...point(i), ...normals.subarray(3 * i, 3 * i + 3));
  return out;
};

const VERTEX_SHADER = `#version 300 es
layout(location = 0) in vec3 point;
layout(location = 1) in vec3 normal;
uniform mat4 world, camera;
uniform vec3 inverse_scale;
out vec3 facing, place;
void main() {
  vec4 at = world * vec4(point, 1.0);
  place = at.xyz;
  facing = mat3(world) * (normal * inverse_scale * inverse_scale);
  gl_Position = camera * at;
}`;

const FRAGMENT_SHADER = `#version 300 es
precision highp float;
in vec3 facing, place;
uniform vec4 color;
uniform vec3 eye, light;
uniform bool flat_color;
out vec4 pixel;
void main() {
  if (flat_color) { pixel = vec4(color.rgb * color.a, color.a); return; }
  vec3 n = normalize(facing), towards = normalize(eye - place);
  float sky = 0.5 + 0.5 * n.z;
  float sun = max(dot(n, light), 0.0);
  float fill = max(dot(n, towards), 0.0);
  float shine = pow(max(dot(n, normalize(light + towards)), 0.0), 40.0);
  vec3 lit = color.rgb * (0.30 + 0.20 * sky + 0.40 * sun + 0.14 * fill) + 0.10 * shine;
  pixel = vec4(lit * color.a, color.a);
}`;

const LIGHT = unit([0.35, -0.5, 1.0]);
// Without a GPU smooth edges take two and a half times as long: there they come once all rests.
const SHARPEN_MS = 300;
const drawsInSoftware = () => {
  const gl = document.createElement('canvas').getContext('webgl2');
  const info = gl?.getExtension('WEBGL_debug_renderer_info');
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : '';
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|softpipe|basic render/i.test(name);
};
// Onto the plane of the table tops, z = 0, raised by half a millimetre.
const ON_TABLE = new Float32Array(
  [1, 0, 0, 0, 0, 1, 0, 0, -LIGHT[0] / LIGHT[2], -LIGHT[1] / LIGHT[2], 0, 0, 0, 0, 5e-4, 1]);
const SHADOW = [0.05, 0.06, 0.09, 0.22];
const REACH = [0.16, 0.56, 0.5, 0.9];
const SHINE = [1, 0.72, 0.1, 0.55];
const GHOST = 0.5;
// Places of a name, by direction and distance from the edge of its object [px]: near ones first.
const SPOTS = [3, 14, 28, 44, 64].flatMap((gap) => (
  [-90, 90, 0, 180, -45, 45, -135, 135].map((angle) => (
    [Math.cos(angle * Math.PI / 180), Math.sin(angle * Math.PI / 180), gap]))));
const LEADER_FROM = 10;      // a name further off has a line to its object [px]

// What is left of names without a beginning that they share: location_A is A.
const shortNames = (names) => {
  const begins = new Set(names.map((name) => name.slice(0, name.lastIndexOf('_') + 1)));
  return names.map((name) => (begins.size === 1 ? name.slice(name.lastIndexOf('_') + 1) : name));
};

class View3D {
  constructor(canvas) {
    this.canvas = canvas;
    this.problem = '';
    this.software = drawsInSoftware();
    const gl = canvas.getContext('webgl2', { alpha: true, antialias: !this.software, stencil: true });
    if (!gl) {
      this.problem = 'This browser cannot draw in three dimensions: WebGL 2 is off or missing.';
      return;
    }
    this.gl = gl;
    this.extra = { names: true, marked: '', ghosts: [] };
    this.layer = document.createElement('div');
    this.layer.className = 'names';
    this.layer.setAttribute('aria-hidden', 'true');
    canvas.parentElement.style.position = 'relative';
    canvas.after(this.layer);
    this.build();
    this.steer();
    new ResizeObserver(() => this.redraw()).observe(canvas);
    canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => { this.build(); this.redraw(); });
  }

  load(description) {
    this.scene = description;
    this.qpos = description.qpos;
    this.target = description.target;
    const away = minus(description.eye, description.target);
    this.far = Math.hypot(...away);
    this.around = Math.atan2(away[1], away[0]);
    this.above = Math.asin(away[2] / this.far);
    const { bodies, shapes } = description;
    const marks = shapes.filter((shape) => shape.name), short = shortNames(marks.map((x) => x.name));
    const named = [
      ...bodies.flatMap((body, place) => (body.name ? [{ name: body.name, text: body.name, place }] : [])),
      ...marks.map(({ name, pos }, i) => ({ name, text: short[i], pos })),
    ];
    this.labels = named.map((label) => {
      const node = document.createElement('span'), line = document.createElement('i');
      node.textContent = label.text;
      const sizes = shapes.filter((shape) => !label.pos && shape.body === label.place).map((shape) => Math.max(...shape.size));
      return { ...label, node, line, radius: Math.max(0, ...sizes) };
    });
    this.layer.replaceChildren(...this.labels.flatMap(({ line, node }) => [line, node]));
    for (const label of this.labels) label.size = [label.node.offsetWidth, label.node.offsetHeight];
    this.redraw();
  }

  dress(meshes) {
    this.dressed = meshes;
    this.build();
    this.redraw();
  }

  // All shapes, those of the robot as it is dressed.
  shapes() {
    const { shapes, bodies, robot } = this.scene, { dressed } = this;
    if (dressed?.robot !== robot) return shapes;
    return [...shapes.filter(({ body }) => body === 0 || bodies[body].name !== undefined), ...dressed.shapes];
  }

  set(extra) {
    Object.assign(this.extra, extra);
    this.redraw();
  }

  show(qpos) {
    this.qpos = qpos;
    this.redraw();
  }

  redraw(sharp = false) {
    this.sharp = sharp;
    if (this.software && !sharp) {
      clearTimeout(this.later);
      this.later = setTimeout(() => this.redraw(true), SHARPEN_MS);
    }
    if (this.gl && !this.asked) {
      this.asked = requestAnimationFrame(() => { this.asked = 0; this.draw(); });
    }
  }

  // Where each body is: [position, quaternion] in the frame of the base.
  poses() {
    const { bodies } = this.scene, poses = [[[0, 0, 0], [1, 0, 0, 0]]], q = this.qpos;
    for (const body of bodies.slice(1)) {
      const [at, turn] = poses[body.parent];
      let pos = plus(at, rotated(turn, body.pos)), quat = quatTimes(turn, body.quat);
      if (body.joint === 'free') {
        [pos, quat] = [q.slice(body.at, body.at + 3), q.slice(body.at + 3, body.at + 7)];
      } else if (body.joint === 'slide') {
        pos = plus(pos, rotated(quat, times(body.axis, q[body.at])));
      } else if (body.joint === 'hinge') {
        const half = q[body.at] / 2;
        quat = quatTimes(quat, [Math.cos(half), ...times(body.axis, Math.sin(half))]);
      }
      const length = Math.hypot(...quat) || 1;
      poses.push([pos, quat.map((x) => x / length)]);
    }
    return poses;
  }

  build() {
    const { gl } = this, program = gl.createProgram();
    for (const [kind, text] of [
      [gl.VERTEX_SHADER, VERTEX_SHADER], [gl.FRAGMENT_SHADER, FRAGMENT_SHADER]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    this.at = {};
    for (const name of [
      'world', 'camera', 'inverse_scale', 'color', 'eye', 'light', 'flat_color']) {
      this.at[name] = gl.getUniformLocation(program, name);
    }
    this.meshes = {};
    const own = (this.dressed?.meshes ?? []).map((mesh, i) => [`mesh ${i}`, meshTriangles(mesh)]);
    for (const [name, triangles] of [
      ...own,
      ['box', boxTriangles()], ['ball', sphereTriangles()],
      ['tube', tubeTriangles()], ['lids', lidTriangles()], ['ring', ringTriangles()]]) {
      const vertices = gl.createVertexArray();
      gl.bindVertexArray(vertices);
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(triangles), gl.STATIC_DRAW);
      for (const place of [0, 1]) {
        gl.enableVertexAttribArray(place);
        gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 24, 12 * place);
      }
      this.meshes[name] = [vertices, triangles.length / 6];
    }
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  draw() {
    const { gl, canvas, at } = this;
    if (!this.scene || gl.isContextLost()) return;
    const dots = this.software ? (this.sharp ? 2 : 1) : Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.round(canvas.clientWidth * dots);
    const height = Math.round(canvas.clientHeight * dots);
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) {
      [canvas.width, canvas.height] = [width, height];
    }
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);

    const flat = Math.cos(this.above) * this.far;
    const eye = plus(this.target, [
      flat * Math.cos(this.around), flat * Math.sin(this.around),
      Math.sin(this.above) * this.far]);
    // A narrow picture keeps its width, a wide one its height.
    const aspect = width / height, half = Math.tan(this.scene.fov_deg * Math.PI / 360);
    const fov = this.fov = 2 * Math.atan(half * Math.max(1, 1.2 / aspect));
    const camera = matrixTimes(perspective(fov, aspect, 0.1 * this.far, 30), lookAt(eye, this.target));
    gl.uniformMatrix4fv(at.camera, false, camera);
    gl.uniform3fv(at.eye, eye);
    gl.uniform3fv(at.light, LIGHT);

    const poses = this.poses();
    const pieces = this.shapes().flatMap((shape) => this.pieces(shape, poses[shape.body]));
    gl.enable(gl.STENCIL_TEST);
    // What stands still comes first: shadows fall on it, and each of its pixels takes one.
    gl.stencilFunc(gl.ALWAYS, 1, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.REPLACE);
    gl.enable(gl.CULL_FACE);
    this.paint(pieces.filter((piece) => piece.still));
    gl.stencilFunc(gl.EQUAL, 1, 255);
    gl.depthMask(false);
    gl.disable(gl.CULL_FACE);
    if (this.extra.names) {
      gl.stencilOp(gl.KEEP, gl.KEEP, gl.KEEP);
      this.paint(this.scene.reach_m.map((r) => (
        { mesh: 'ring', scale: [r, r, 1], color: REACH, world: poseMatrix([0, 0, 1e-3], [1, 0, 0, 0], [r, r, 1]) })), null, true);
    }
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    this.paint(pieces.filter((piece) => !piece.still), ON_TABLE);
    gl.depthMask(true);
    gl.enable(gl.CULL_FACE);
    gl.disable(gl.STENCIL_TEST);
    this.paint(pieces.filter((piece) => !piece.still));
    gl.depthMask(false);
    this.paint(this.ghosts(poses));
    gl.depthMask(true);
    this.write(poses, camera);
  }

  // Objects where a plan would leave them, and what shines around the one that is marked.
  ghosts(poses) {
    const { bodies, shapes } = this.scene, { marked, ghosts } = this.extra, pieces = [];
    const add = (name, pose, change) => {
      for (const shape of shapes) {
        if ((bodies[shape.body].name ?? shape.name) !== name) continue;
        const where = pose ?? poses[shape.body];
        pieces.push(...this.pieces({ ...shape, ...change(shape) }, where));
      }
    };
    for (const [name, p] of ghosts) {
      add(name, [p.slice(0, 3), p.slice(3)], ({ rgba }) => ({ rgba: [...rgba.slice(0, 3), GHOST * rgba[3]] }));
    }
    if (marked) add(marked, null, ({ size }) => ({ size: size.map((x) => 1.2 * x + 4e-3), rgba: SHINE }));
    return pieces;
  }

  // Names beside their objects, each where no other name or object is; one without room is left out.
  write(poses, camera) {
    const { canvas, layer, labels } = this, { names, marked } = this.extra;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    for (const [side, value] of [['left', canvas.offsetLeft], ['top', canvas.offsetTop], ['width', width], ['height', height]]) {
      layer.style[side] = `${value}px`;
    }
    const pixels = height / 2 / Math.tan(this.fov / 2);
    const seenAt = ([x, y, z], radius) => {
      const [a, b, w] = [0, 1, 3].map((row) => camera[row] * x + camera[4 + row] * y + camera[8 + row] * z + camera[12 + row]);
      const at = [(0.5 + a / w / 2) * width, (0.5 - b / w / 2) * height], r = radius * pixels / w;
      return { at, r, seen: w > 0, body: [at[0] - r, at[1] - r, at[0] + r, at[1] + r] };
    };
    for (const label of labels) Object.assign(label, seenAt(label.pos ?? poses[label.place][0], label.radius));
    const taken = this.extra.ghosts.map(([name, pose]) => (
      seenAt(pose, labels.find((label) => label.name === name)?.radius ?? 0).body));
    const apart = (a, b) => a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
    const free = (box, own) => box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height
      && taken.every((other) => apart(box, other))
      && labels.every((other) => other === own || !other.r || apart(box, other.body));
    // The marked one first, since it is always shown; then places, whose names stand on them.
    const rank = ({ name, pos }) => (name === marked ? 0 : pos ? 1 : 2);
    const order = [...labels].sort((a, b) => rank(a) - rank(b));
    for (const label of order) {
      const { name, at, r, size: [w, h], node, line } = label, spots = label.pos ? [[0, 0, 0]] : SPOTS;
      let box = null, far = 0;
      if (label.seen && (names || name === marked)) {
        const boxes = spots.map(([dx, dy, gap]) => {
          const side = (d) => Math.sign(Math.round(3 * d));
          const x = at[0] + dx * (r + gap) + side(dx) * w / 2, y = at[1] + dy * (r + gap) + side(dy) * h / 2;
          return [x - w / 2, y - h / 2, x + w / 2, y + h / 2];
        });
        const place = boxes.findIndex((one) => free(one, label));
        box = boxes[place] ?? (name === marked ? boxes[0] : null);
        far = spots[Math.max(0, place)][2];
      }
      node.hidden = !box;
      line.hidden = !box || far < LEADER_FROM;
      node.classList.toggle('marked', name === marked);
      if (!box) continue;
      taken.push(box);
      node.style.transform = `translate(${box[0].toFixed(1)}px, ${box[1].toFixed(1)}px)`;
      const end = [Math.min(Math.max(at[0], box[0]), box[2]), Math.min(Math.max(at[1], box[1]), box[3])];
      line.style.width = `${Math.hypot(end[0] - at[0], end[1] - at[1]).toFixed(1)}px`;
      const turn = Math.atan2(end[1] - at[1], end[0] - at[0]);
      line.style.transform = `translate(${at[0].toFixed(1)}px, ${at[1].toFixed(1)}px) rotate(${turn.toFixed(3)}rad)`;
    }
  }

  // The meshes of a shape: [name, matrix, scale].
  pieces(shape, [at, turn]) {
    const pos = plus(at, rotated(turn, shape.pos)), quat = quatTimes(turn, shape.quat);
    const [a, b, c] = shape.size, color = shape.rgba, still = shape.body === 0;
    const piece = (mesh, scale, where = pos) => (
      { mesh, scale, color, still, world: poseMatrix(where, quat, scale) });
    switch (shape.shape) {
      case 'mesh': return [piece(`mesh ${shape.mesh}`, [1, 1, 1])];
      case 'box': return [piece('box', [a, b, c])];
      case 'ellipsoid': return [piece('ball', [a, b, c])];
      case 'cylinder': return [piece('tube', [a, a, b]), piece('lids', [a, a, b])];
      default: {
        const end = rotated(quat, [0, 0, b]);
        return [
          piece('tube', [a, a, b]),
          ...[end, times(end, -1)].map((x) => piece('ball', [a, a, a], plus(pos, x)))];
      }
    }
  }

  paint(pieces, projection, flat = Boolean(projection)) {
    const { gl, at } = this;
    gl.uniform1i(at.flat_color, flat ? 1 : 0);
    for (const { mesh, scale, color, world } of pieces) {
      const [vertices, count] = this.meshes[mesh];
      gl.uniformMatrix4fv(at.world, false, projection ? matrixTimes(projection, world) : world);
      gl.uniform3fv(at.inverse_scale, scale.map((x) => 1 / x));
      gl.uniform4fv(at.color, projection ? SHADOW : color);
      gl.bindVertexArray(vertices);
      gl.drawArrays(gl.TRIANGLES, 0, count);
    }
  }

  turn(around, above) {
    this.around += around;
    this.above = Math.min(1.55, Math.max(-0.2, this.above + above));
    this.redraw();
  }

  zoom(factor) {
    this.far = Math.min(8, Math.max(0.3, this.far * factor));
    this.redraw();
  }

  shift(right, up) {
    const r = [-Math.sin(this.around), Math.cos(this.around), 0];
    this.target = plus(plus(this.target, times(r, right)), [0, 0, up]);
    this.redraw();
  }

  // Drag to turn, with a second finger or the other button to move; the wheel zooms once the
  // picture has the focus, so that a page still scrolls over it.
  steer() {
    const { canvas } = this, held = new Map();
    canvas.tabIndex = 0;
    canvas.style.touchAction = 'none';
    const spread = () => {
      const [a, b] = [...held.values()];
      return Math.hypot(a[0] - b[0], a[1] - b[1]);
    };
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      held.set(event.pointerId, [event.clientX, event.clientY]);
    });
    canvas.addEventListener('pointermove', (event) => {
      const before = held.get(event.pointerId);
      if (!before) return;
      const dx = event.clientX - before[0], dy = event.clientY - before[1];
      const old = held.size === 2 ? spread() : 0;
      held.set(event.pointerId, [event.clientX, event.clientY]);
      const size = this.far / canvas.clientHeight;
      if (held.size === 2) {
        this.zoom(old / (spread() || 1));
        this.shift(-dx * size / 2, dy * size / 2);
      } else if (event.buttons & 2 || event.shiftKey) this.shift(-dx * size, dy * size);
      else this.turn(-dx * 0.008, dy * 0.008);
    });
    for (const name of ['pointerup', 'pointercancel']) {
      canvas.addEventListener(name, (event) => held.delete(event.pointerId));
    }
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('wheel', (event) => {
      if (document.activeElement !== canvas) return;
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.001));
    }, { passive: false });
    const keys = {
      ArrowLeft: () => this.turn(-0.1, 0), ArrowRight: () => this.turn(0.1, 0),
      ArrowUp: () => this.turn(0, 0.1), ArrowDown: () => this.turn(0, -0.1),
      '+': () => this.zoom(0.9), '-': () => this.zoom(1.1)};
    canvas.addEventListener('keydown', (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
}
