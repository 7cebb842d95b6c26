'use strict';
(function () {
  const data = JSON.parse(document.getElementById('data').textContent);
  const steps = data.steps;
  const rows = steps.map(function (_, i) { return document.getElementById('step-' + (i + 1)); });
  // Per step: how many steps of each thread happen before it, itself included.
  const clocks = [];
  const counts = new Array(data.threads.length).fill(0);
  const last = new Array(data.threads.length).fill(-1);
  const position = [];
  steps.forEach(function (step, i) {
    const clock = last[step.thread] < 0 ? new Array(data.threads.length).fill(0) : clocks[last[step.thread]].slice();
    step.after.forEach(function (other) {
      clocks[other - 1].forEach(function (n, t) { if (n > clock[t]) clock[t] = n; });
    });
    counts[step.thread] += 1;
    clock[step.thread] = counts[step.thread];
    position.push(counts[step.thread]);
    clocks.push(clock);
    last[step.thread] = i;
  });
  function before(i, j) { return i !== j && clocks[j][steps[i].thread] >= position[i]; }

  function element(name, text, parent) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (parent) parent.appendChild(made);
    return made;
  }
  function link(step, parent) {
    const made = element('a', String(step), parent);
    made.href = '#step-' + step;
    return made;
  }
  function line(table, name, fill) {
    const row = element('tr', undefined, table);
    element('th', name, row);
    const cell = element('td', undefined, row);
    if (typeof fill === 'function') fill(cell); else cell.textContent = fill;
  }
  function list(values) {
    return function (cell) {
      values.forEach(function (step, i) {
        if (i) cell.append(', ');
        link(step, cell);
        cell.append(' by ' + data.threads[steps[step - 1].thread].name);
      });
    };
  }

  const details = document.getElementById('details');
  function show(i) {
    const step = steps[i];
    const sums = { before: 0, after: 0, conc: 0 };
    rows.forEach(function (row, k) {
      let kind = 'sel';
      if (k !== i) {
        kind = before(k, i) ? 'before' : before(i, k) ? 'after' : 'conc';
        sums[kind] += 1;
      }
      row.classList.remove('sel', 'before', 'after', 'conc');
      row.classList.add(kind);
    });
    details.replaceChildren();
    element('h2', 'Step ' + (i + 1) + ': ' + step.call, details);
    const table = element('table', undefined, details);
    const thread = data.threads[step.thread];
    line(table, 'thread', thread.name + (thread.process ? ' of process ' + thread.process : ''));
    if (step.effect) line(table, 'effect', step.effect);
    if (step.object) line(table, 'object', step.object);
    if (step.reads === 0) line(table, 'reads', 'the initial value');
    else if (step.reads) line(table, 'reads from', list([step.reads]));
    if (step.stale) line(table, 'stale', function (cell) { cell.append('the newest value is that of '); link(step.stale, cell); });
    if (step.overwrites) line(table, 'overwrites', list([step.overwrites]));
    if (step.handed) line(table, 'lock from', list([step.handed]));
    if (step.after.length) line(table, 'comes after', list(step.after));
    if (step.preempts !== undefined) line(table, 'preempts', data.threads[step.preempts].name);
    line(table, 'outcomes', step.alternatives === 1 ? 'this one only' : '1 of ' + step.alternatives);
    const sum = function (n) { return n + (n === 1 ? ' step' : ' steps'); };
    line(table, 'happens before it', sum(sums.before));
    line(table, 'happens after it', sum(sums.after));
    line(table, 'concurrent', sum(sums.conc));
    line(table, 'place', step.place);
    const source = data.sources[step.place];
    if (source) {
      const pre = element('pre', undefined, details);
      source.lines.forEach(function (text, k) {
        const number = source.first + k;
        element(number === source.line ? 'b' : 'span', String(number).padStart(5) + ' | ' + text + '\n', pre);
      });
      if (source.changed) element('p', 'This file has changed since the recording.', details);
    } else {
      element('p', 'The source is not at hand.', details);
    }
  }
  function fromHash() {
    const match = /^#step-(\d+)$/.exec(location.hash);
    const i = match ? Number(match[1]) - 1 : -1;
    if (i < 0 || i >= steps.length) return;
    show(i);
    rows[i].scrollIntoView({ block: 'nearest' });
  }
  function select(i) {
    if (location.hash === '#step-' + (i + 1)) show(i); else location.hash = 'step-' + (i + 1);
  }
  document.querySelector('.chart').addEventListener('click', function (event) {
    if (event.target.closest('a')) return;
    const row = event.target.closest('.row[id]');
    if (row) select(Number(row.id.slice(5)) - 1);
  });
  document.addEventListener('keydown', function (event) {
    const match = /^#step-(\d+)$/.exec(location.hash);
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!match || !move) return;
    const to = Number(match[1]) - 1 + move;
    if (to >= 0 && to < steps.length) { event.preventDefault(); select(to); }
  });
  document.querySelector('nav').addEventListener('change', function (event) {
    document.body.classList.toggle(event.target.value, event.target.checked);
  });
  window.addEventListener('hashchange', fromHash);
  fromHash();
})();
