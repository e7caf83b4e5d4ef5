/** The limits on connections and their calls: times, sizes and numbers. */
export const listenerLimits = {
  /**
   * Timeout for the headers, in milliseconds. For a new connection, it runs until the bytes that show the protocol. For HTTP/1.1,
   * it runs from the first byte of a request to the end of its headers. For HTTP/2, it runs from the preface to the first
   * headers.
   */
  headersTimeoutMs: 10_000,
  /**
   * Timeout for a request from its first byte to its last, in milliseconds. The largest body, a batch of 1 MiB, needs 560 kbit/s.
   */
  requestTimeoutMs: 15_000,
  /**
   * Interval at which Node looks for requests that exceed their timeout, in milliseconds. A request may exceed its timeout by
   * this time.
   */
  checkIntervalMs: 1_000,
  /**
   * Timeout for a connection without calls, in milliseconds. It is longer than the 60 s of load balancers, which must close an
   * idle connection before Kibitz does.
   */
  keepAliveTimeoutMs: 65_000,
  /**
   * Timeout for a connection with calls on which no byte moves, in milliseconds: the same as Envoy's idle timeout of streams. It
   * is far longer than the longest wait and search together (72 s). A client that is cut off has stopped reading, or watches a
   * health status that does not change; the health protocol makes such a client watch again.
   */
  silenceTimeoutMs: 300_000,
  /** The maximum size of the headers of a request, including the request target. It is also Node's default. */
  headersMaxBytes: 16 * 1024,
  /** The maximum number of connections. An idle connection takes about 10 kB. */
  connectionsMax: 10_000,
  /**
   * The maximum number of requests that wait on an HTTP/1.1 connection while another request is answered. Each takes 4 kB, and
   * few clients send even one before they have the answer to the last one.
   */
  requestsWaitingMax: 16,
  /** The maximum number of calls in flight on one HTTP/2 connection, the same as in gRPC servers and Envoy. */
  streamsMax: 100,
  /** The maximum number of calls in flight in all protocols together. Each takes 10 kB or more. */
  callsMax: 20_000,
  /**
   * The maximum number of streams that are rejected on one HTTP/2 connection because too many calls are in flight. After that,
   * the connection is closed.
   */
  streamsRefusedMax: 100,
  /**
   * The number of calls that the client of an HTTP/2 connection may cancel at once, and then per second, before the connection is
   * closed. This stops rapid reset (CVE-2023-44487). A client that cancels all calls that it may have open stays within the
   * limit, and delays others by some 40 ms.
   */
  streamResetsBurst: 100,
  streamResetsPerSecond: 33,
} as const;

/** The type of {@link listenerLimits}. Tests use shorter timeouts and smaller limits. */
export type ListenerLimits = { readonly [Limit in keyof typeof listenerLimits]: number };
