// Writes small sets of traces that a page must stand, into a folder: without prices, without
// times, a single trajectory, and tools whose names would be markup.
//
//   node sets.mjs FOLDER
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2];
const set = (name, n, tools, extra) => {
  const lines = [];
  for (let i = 0; i < n; i++) {
    const messages = [{ role: 'user', content: `order ${i} is late` }];
    tools.forEach((tool, k) => {
      messages.push({ role: 'assistant', content: null, tool_calls: [{ id: `c${k}`, type: 'function', function: { name: tool, arguments: JSON.stringify({ id: `order-${i}`, n: k % 2 }) } }] });
      messages.push({ role: 'tool', tool_call_id: `c${k}`, content: i % 4 === 0 && k === 1 ? 'Error: 503 Service Unavailable' : JSON.stringify({ order: `order-${i}`, parcel: `parcel-${i}-${k}` }) });
    });
    messages.push({ role: 'assistant', content: 'It arrives tomorrow.' });
    lines.push(JSON.stringify({ id: `${name}-${i}`, messages, ...extra }));
  }
  writeFileSync(join(folder, `${name}.jsonl`), lines.join('\n') + '\n');
};
const tools = ['find_order', 'track_parcel', 'find_order', 'track_parcel', 'notify_customer'];
set('no-prices', 24, tools, { model: 'a-model-of-our-own' });
set('no-times', 24, tools, { model: 'gpt-4o' });
set('single', 1, tools, { model: 'gpt-4o' });
set('hostile', 24, ['<img src=x onerror=document.title=1>', "</script><script>document.title='2'</script>", '"><svg onload=alert(1)>', '‮gnp.exe', `${'a_very_long_name_'.repeat(20)}end`, "'; DROP TABLE tools; --", '--out=/etc/passwd $(reboot)'], { model: '<b>gpt-4o</b>' });
