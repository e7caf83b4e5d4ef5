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
  /** An answer is closed if bytes have waited this long and the client read none of them. */
  unreadTimeoutMs: 30_000,
  /**
   * The maximum size of the headers together with the request target. Node has the same default. Each header counts as 32 bytes
   * more (RFC 9113 section 6.5.2), because HPACK sends a header that needs 32 bytes of heap in 1 byte.
   */
  headersMaxBytes: 16 * 1024,
  /** The maximum number of connections. An idle connection needs about 10 kB of memory. */
  connectionsMax: 10_000,
  /**
   * An address may open this many connections at once. The server reads from more of them at `connectionsPerSecond`, because a
   * new connection with ten requests costs the thread 1 ms: 200 at once would stall everything else.
   */
  connectionsAtOnce: 64,
  connectionsPerSecond: 256,
  /** The maximum number of requests that wait on an HTTP/1.1 connection. Each waiting request needs 4 kB of memory. */
  requestsWaitingMax: 16,
  /** The maximum size of the headers of all requests that wait on an HTTP/1.1 connection. */
  waitingHeadersMaxBytes: 32 * 1024,
  /** The maximum number of calls in flight on one HTTP/2 connection. gRPC servers and Envoy have the same limit. */
  streamsMax: 100,
  /**
   * The maximum number of calls in flight in all protocols together. A call that nobody reads needs 10 kB of heap, and 50 kB if
   * it has a hundred headers: 250 MB of the 512 MB of `npm start`.
   */
  callsMax: 5_000,
  /**
   * The maximum number of health probes in flight for one address. After a stall of a second, ten checks of each of several load
   * balancers arrive at once.
   */
  probesPerAddress: 128,
  /** The maximum number of health watches and reflection streams in flight for one address. Their services allow 100 and 5. */
  toolsPerAddress: 128,
  /** The maximum number of pages, errors 404 and preflights in flight for one address. A browser opens 6 connections. */
  pagesPerAddress: 128,
  /** The window of the two following rates. */
  rateWindowMs: 10_000,
  /** The maximum number of probes of one address in a window. Ten load balancers that check ten times a second are within it. */
  probesPerWindow: 1000,
  /** The maximum size of the pages for one address in a window. It allows 60 visits of `/docs`, or 8,000 errors 404. */
  pageBytesPerWindow: 32 * 1024 * 1024,
  /** The maximum number of rejected streams on an HTTP/2 connection. If more are rejected, the connection is closed. */
  streamsRefusedMax: 100,
  /** An HTTP/2 client can cancel this many calls at once. This limit prevents the attack "rapid reset" (CVE-2023-44487). */
  streamResetsBurst: 100,
  streamResetsPerSecond: 33,
} as const;

export type ListenerLimits = { readonly [Limit in keyof typeof listenerLimits]: number };
