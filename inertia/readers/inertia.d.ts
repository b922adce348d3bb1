/** Why a file cannot be read; `code` is that of the Go reader. */
export class SnapshotError extends Error {
  code: string;
}

/** States of a turn: add those that hold. */
export const USER: number, FAILED: number, PARALLEL: number, INSIDE: number;

export interface Outcome {
  /** "" makes no call. */
  tool: string;
  probability: number;
}

/** A compiled inertia graph. It is immutable. */
export class Snapshot {
  /** Takes the bytes of a snapshot. */
  constructor(data: Uint8Array);
  /** The names of the tools, in order. */
  readonly tools: string[];
  /** Checks every checksum. */
  verify(): void;
  /**
   * Probabilities of no call and of the tools in order, and of any other tool.
   * calls are the names of the tools called so far, the newest last.
   */
  distribution(calls: string[], state?: number): { p: Float64Array; unknown: number };
  /** The n likeliest outcomes, best first. */
  predict(calls: string[], state?: number, n?: number): Outcome[];
}

/** Whether the next call may be made without the model. */
export function gate(history: { inertial: boolean; failed: boolean }[], share?: number): boolean;
