#!/usr/bin/env node
// Runs awo. The first time, it fetches the archive of this system and refuses it if its SHA-256 is
// not the one that this package was made with; then the program stays in the user's cache folder.
"use strict";
const fs = require("fs"), os = require("os"), path = require("path"), zlib = require("zlib");
const crypto = require("crypto"), { spawnSync } = require("child_process");
const release = require("./release.json");

function cacheFolder() {
  if (process.platform === "win32") return process.env.LOCALAPPDATA || path.join(os.homedir(), "AppData", "Local");
  if (process.platform === "darwin") return path.join(os.homedir(), "Library", "Caches");
  return process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
}

// The first regular file of a tar archive that is called name.
function fileOf(tar, name) {
  for (let at = 0; at + 512 <= tar.length; ) {
    const head = tar.subarray(at, at + 512);
    const text = (from, to) => head.toString("latin1", from, to).replace(/\0.*$/s, "").trim();
    const size = parseInt(text(124, 136), 8) || 0;
    if (path.posix.basename(text(0, 100)) === name && ["", "0"].includes(text(156, 157))) return tar.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error(`the archive has no ${name}`);
}

async function program() {
  const system = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  const archive = release.archives[system];
  if (!archive) throw new Error(`there is no program for ${system}; build one from a clone with make build`);
  const name = process.platform === "win32" ? "awo.exe" : "awo";
  const folder = path.join(cacheFolder(), "awo", "bin", archive.sha256), file = path.join(folder, name);
  if (fs.existsSync(file)) return file;
  const answer = await fetch(`${release.url}/${archive.name}`);
  if (!answer.ok) throw new Error(`${archive.name} cannot be fetched: HTTP ${answer.status}`);
  const data = Buffer.from(await answer.arrayBuffer());
  if (crypto.createHash("sha256").update(data).digest("hex") !== archive.sha256) throw new Error(`${archive.name} has another SHA-256 than expected, and is not used`);
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const part = `${file}.${process.pid}`;
  fs.writeFileSync(part, fileOf(zlib.gunzipSync(data), name), { mode: 0o755 });
  fs.renameSync(part, file);
  return file;
}

program().then(
  (file) => {
    const done = spawnSync(file, process.argv.slice(2), { stdio: "inherit" });
    if (done.error) throw done.error;
    process.exit(done.status === null ? 1 : done.status);
  },
).catch((err) => {
  console.error(`awo: ${err.message}`);
  process.exit(1);
});
