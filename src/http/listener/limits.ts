/** What one connection may take of the server, in time and in bytes. */
export const listenerLimits = {
  /** For the bytes that tell HTTP/1.1 and HTTP/2 apart: as for the headers they begin. */
  firstBytesTimeoutMs: 10_000,
  /** From the first byte of a request to the end of its headers (HTTP/1.1); from the preface to the first headers (HTTP/2). */
  headersTimeoutMs: 10_000,
  /** From the first byte of a request to its last: the largest body, a batch of 1 MiB, needs 560 kbit/s. */
  requestTimeoutMs: 15_000,
  /** How often Node looks for requests over those two limits: what they may be late by. */
  checkIntervalMs: 1_000,
  /** Without a call. Longer than the 60 s after which load balancers drop idle connections: they must be the first to. */
  keepAliveTimeoutMs: 65_000,
  /**
   * A connection with calls on it, but on which nothing at all moves: Envoy's idle timeout of streams. Far more
   * than the longest wait and search together (72 s): who is cut by this has stopped reading, or watches nothing but
   * a health that stays the same, and then asks anew, as that protocol wants it.
   */
  silenceTimeoutMs: 300_000,
  /** For any part of an answer to be taken (HTTP/2): one of 400 kB, the review of the longest game, needs 107 kbit/s. */
  takeTimeoutMs: 30_000,
  /** Promised by the contract; a line of it is the request target. Node's own default, said aloud. */
  headersMaxBytes: 16 * 1024,
  /** Connections at a time: idle, each takes about 10 kB. */
  connectionsMax: 10_000,
  /**
   * Connections beside those, for one answer each: probes are answered there, and others told to come later. Twice as
   * many as wait to be accepted at most, so that none is closed for others before it has been read.
   */
  spareConnectionsMax: 1000,
  /** Of them for one address. */
  spareConnectionsPerAddress: 64,
  /** Calls at a time on one HTTP/2 connection: what gRPC servers and Envoy allow. */
  streamsMax: 100,
  /** Calls at a time in all, whatever their protocol: 10 kB and more each. */
  callsMax: 20_000,
  /** Streams of one HTTP/2 connection that are refused because too many calls are under way, before it is closed. */
  streamsRefusedMax: 100,
  /**
   * Calls that an HTTP/2 connection may cancel at once, and then per second, before it is closed: rapid reset
   * (CVE-2023-44487). One that cancels all it may have open stays within; what it cancels at once keeps everybody else
   * waiting for some 40 ms.
   */
  streamResetsBurst: 100,
  streamResetsPerSecond: 33,
} as const;

/** As {@link listenerLimits}; tests make them short. */
export type ListenerLimits = { readonly [Limit in keyof typeof listenerLimits]: number };
