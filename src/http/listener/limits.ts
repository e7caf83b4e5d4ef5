export const listenerLimits = {
  /**
   * The timeout for each of these periods:
   * - from the beginning of a connection until its protocol is known
   * - over HTTP/1.1: from the first byte of a request to the end of its headers
   * - over HTTP/2: from the preface to the first headers
   */
  headersTimeoutMs: 10_000,
  /** The maximum time in which a complete request must arrive. The largest body is a batch of 1 MiB, which needs 560 kbit/s. */
  requestTimeoutMs: 15_000,
  /** Node checks the timeouts of requests at this interval. So a request can exceed its timeout by this many milliseconds. */
  checkIntervalMs: 1_000,
  /** The timeout for a connection without calls. Load balancers have a timeout of 60 s and must close the connection first. */
  keepAliveTimeoutMs: 65_000,
  /**
   * The timeout for a connection with calls if no byte is sent or received. Envoy has the same timeout for streams. A call can
   * be silent for 72 s while it waits and searches.
   *
   * This timeout also ends the stream of a client that watches a health status. Such clients reconnect, as the health protocol
   * requires.
   */
  silenceTimeoutMs: 300_000,
  /** The maximum size of the headers together with the request target. Node has the same default. */
  headersMaxBytes: 16 * 1024,
  /** The maximum number of connections. An idle connection needs about 10 kB of memory. */
  connectionsMax: 10_000,
  /**
   * The maximum number of requests that wait on an HTTP/1.1 connection while another request is answered. Each waiting request
   * needs 4 kB of memory, and few clients send a request before the last answer.
   */
  requestsWaitingMax: 16,
  /** The maximum number of calls in flight on one HTTP/2 connection. gRPC servers and Envoy have the same limit. */
  streamsMax: 100,
  /** The maximum number of calls in flight in all protocols together. Each call needs 10 kB of memory or more. */
  callsMax: 20_000,
  /** An HTTP/2 connection is closed when more streams than this were rejected because too many calls were in flight. */
  streamsRefusedMax: 100,
  /**
   * The number of calls that an HTTP/2 client may cancel at once. `streamResetsPerSecond` limits further cancellations. A
   * connection that exceeds these limits is closed, which stops the attack "rapid reset" (CVE-2023-44487).
   *
   * Cancelling all open calls is allowed, and delays other requests by about 40 ms.
   */
  streamResetsBurst: 100,
  streamResetsPerSecond: 33,
} as const;

export type ListenerLimits = { readonly [Limit in keyof typeof listenerLimits]: number };
