/**
 * Preloaded into every child of `npm start`. The child's standard input is a pipe that its parent
 * holds and never writes to, so its end means that the parent is gone, `kill -9` included. Then
 * the child gets the signal that ends it in an orderly way, and ten seconds for that.
 */
const { isMainThread } = require('node:worker_threads');

const GRACE_MS = 10_000;

function parentIsGone() {
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), GRACE_MS).unref();
  process.kill(process.pid, 'SIGTERM');
}

function watchParent() {
  process.stdin.once('close', parentIsGone);
  // Without its parent nobody reads what the child prints; that must not cut its orderly end short.
  for (const stream of [process.stdin, process.stdout, process.stderr]) {
    stream.on('error', () => undefined);
  }
  process.stdin.resume();
  // The pipe must not keep a program alive that has nothing left to do.
  process.stdin.unref();
}

// Threads inherit the preload; a thread that reads its own copy of the pipe crashes its process.
if (isMainThread) watchParent();
