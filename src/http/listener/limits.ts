export const listenerLimits = {
  /**
   * Timeout until the protocol of a connection is known; for HTTP/1.1, from the first byte of a request to the end of its
   * headers; for HTTP/2, from the preface to the first headers.
   */
  headersTimeoutMs: 10_000,
  /** The maximum time from the first byte of a request to its last. The largest body, a batch of 1 MiB, needs 560 kbit/s. */
  requestTimeoutMs: 15_000,
  /** The interval at which Node looks for late requests. A request may exceed its timeout by it. */
  checkIntervalMs: 1_000,
  /** Timeout for a connection without calls: longer than the 60 s of load balancers, which must close first. */
  keepAliveTimeoutMs: 65_000,
  /**
   * Timeout for a connection with calls on which no byte moves, the same as Envoy's for streams. The longest wait and search
   * together take 72 s. A client that watches a health status is cut off too; the health protocol makes it watch again.
   */
  silenceTimeoutMs: 300_000,
  /** The maximum size of headers including the request target: Node's default. */
  headersMaxBytes: 16 * 1024,
  /** The maximum number of connections. An idle connection takes about 10 kB. */
  connectionsMax: 10_000,
  /** The maximum number of requests that wait on an HTTP/1.1 connection. Each takes 4 kB, and few clients send any. */
  requestsWaitingMax: 16,
  /** The maximum number of calls in flight on one HTTP/2 connection, as in gRPC servers and Envoy. */
  streamsMax: 100,
  /** The maximum number of calls in flight in all protocols together. Each takes 10 kB or more. */
  callsMax: 20_000,
  /** The number of streams that may be rejected on one HTTP/2 connection, for too many calls in flight, before it is closed. */
  streamsRefusedMax: 100,
  /**
   * The number of calls that an HTTP/2 client may cancel at once, and then per second, before its connection is closed: this
   * stops rapid reset (CVE-2023-44487). Cancelling all open calls is allowed, and delays others by some 40 ms.
   */
  streamResetsBurst: 100,
  streamResetsPerSecond: 33,
} as const;

/** The type of {@link listenerLimits}. Tests use shorter timeouts and smaller limits. */
export type ListenerLimits = { readonly [Limit in keyof typeof listenerLimits]: number };
