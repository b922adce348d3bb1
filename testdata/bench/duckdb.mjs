// Counts which tool follows which in a file of OpenAI chat lines, with DuckDB.
// Arguments: the folder with node_modules, the file, the number of threads.
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [dir, corpus, threads] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(join(resolve(dir), "package.json"))("@duckdb/node-api");
const instance = await DuckDBInstance.create(":memory:", { threads });
const connection = await instance.connect();
const rows = await connection.runAndReadAll(`
  WITH trajectories AS (
    SELECT row_number() OVER () AS id,
           flatten(list_transform(messages, m -> coalesce(list_transform(m.tool_calls, c -> c."function"."name"), []))) AS tools
    FROM read_json('${corpus.replaceAll("'", "''")}', format = 'newline_delimited', maximum_object_size = 67108864,
      columns = {messages: 'STRUCT(tool_calls STRUCT("function" STRUCT("name" VARCHAR))[])[]'})),
  pairs AS (
    SELECT tools[i] AS this, tools[i + 1] AS next FROM trajectories, unnest(range(1, len(tools))) AS positions(i))
  SELECT this, next, count(*) AS n FROM pairs GROUP BY ALL ORDER BY n DESC, this, next`);
for (const [from, to, n] of rows.getRows()) console.log(`${n}\t${from}\t${to}`);
