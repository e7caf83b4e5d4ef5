export const listenerLimits = {
  /** The timeout for the first bytes of a connection, for the headers over HTTP/1.1, and for the first request over HTTP/2. */
  headersTimeoutMs: 10_000,
  /** A complete request must arrive in this time. The largest body, a batch of 1 MiB, then needs 560 kbit/s. */
  requestTimeoutMs: 15_000,
  /** Node checks the timeouts of requests at this interval. */
  checkIntervalMs: 1_000,
  /** The timeout for an idle connection. It is longer than 60 s, so that load balancers close the connection first. */
  keepAliveTimeoutMs: 65_000,
  /**
   * The timeout for a connection with calls if no byte is sent or received. Envoy has the same timeout for streams.
   * A call can be silent for 72 s while it waits and searches. Clients that watch a health status must reconnect.
   */
  silenceTimeoutMs: 300_000,
  /** The maximum size of the headers together with the request target. Node has the same default. */
  headersMaxBytes: 16 * 1024,
  /** The maximum number of connections. An idle connection needs about 10 kB of memory. */
  connectionsMax: 10_000,
  /** The maximum number of requests that wait on an HTTP/1.1 connection. Each waiting request needs 4 kB of memory. */
  requestsWaitingMax: 16,
  /** The maximum number of calls in flight on one HTTP/2 connection. gRPC servers and Envoy have the same limit. */
  streamsMax: 100,
  /** The maximum number of calls in flight in all protocols together. Each call needs 10 kB of memory or more. */
  callsMax: 20_000,
  /** The maximum number of rejected streams on an HTTP/2 connection. If more are rejected, the connection is closed. */
  streamsRefusedMax: 100,
  /** An HTTP/2 client can cancel this many calls at once. This limit prevents the attack "rapid reset" (CVE-2023-44487). */
  streamResetsBurst: 100,
  streamResetsPerSecond: 33,
} as const;

export type ListenerLimits = { readonly [Limit in keyof typeof listenerLimits]: number };
