export const listenerLimits = {
  /** The timeout for detecting the protocol, and then for the headers of each HTTP/1.1 request or the first HTTP/2 request. */
  headersTimeoutMs: 10_000,
  /** The maximum time in which a complete request must arrive. The largest body is a batch of 1 MiB, which needs 560 kbit/s. */
  requestTimeoutMs: 15_000,
  /** Node checks the timeouts of requests at this interval. */
  checkIntervalMs: 1_000,
  /** The timeout for a connection without calls. Load balancers have a timeout of 60 s and must close the connection first. */
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
  /** An HTTP/2 connection is closed when more streams than this were rejected because too many calls were in flight. */
  streamsRefusedMax: 100,
  /** The number of calls that an HTTP/2 client may cancel at once. Prevents the attack "rapid reset" (CVE-2023-44487). */
  streamResetsBurst: 100,
  streamResetsPerSecond: 33,
} as const;

export type ListenerLimits = { readonly [Limit in keyof typeof listenerLimits]: number };
