/** Limits of connections and of the calls on them, in time, bytes and numbers. */
export const listenerLimits = {
  /**
   * From the beginning of a connection to the bytes that show its protocol; from the first byte of a request to the end of its headers
   * (HTTP/1.1); from the preface to the first headers (HTTP/2).
   */
  headersTimeoutMs: 10_000,
  /** From the first byte of a request to its last: the largest body, a batch of 1 MiB, needs 560 kbit/s. */
  requestTimeoutMs: 15_000,
  /** How often Node looks for requests beyond those two limits. A request may exceed its limit by this time. */
  checkIntervalMs: 1_000,
  /** Without a call. Longer than the 60 s of load balancers, which must close an idle connection before Kibitz does. */
  keepAliveTimeoutMs: 65_000,
  /**
   * For a connection with calls on which no byte moves: Envoy's idle timeout of streams. Far more than the longest wait and search
   * together (72 s). A client that is cut off by this has stopped reading, or only watches a health that stays the same, and
   * watches anew, as that protocol demands.
   */
  silenceTimeoutMs: 300_000,
  /** The request target included. Also Node's default. */
  headersMaxBytes: 16 * 1024,
  /** Connections at a time: idle, each takes about 10 kB. */
  connectionsMax: 10_000,
  /** Requests that wait on an HTTP/1.1 connection while another one is answered: 4 kB each, and hardly any client sends a second one. */
  requestsWaitingMax: 16,
  /** Calls at a time on one HTTP/2 connection: what gRPC servers and Envoy allow. */
  streamsMax: 100,
  /** Calls at a time in all, whatever their protocol: 10 kB and more each. */
  callsMax: 20_000,
  /** Streams of one HTTP/2 connection that are refused because too many calls are under way, before it is closed. */
  streamsRefusedMax: 100,
  /**
   * Calls that an HTTP/2 connection may cancel at once, and then per second, before it is closed: rapid reset
   * (CVE-2023-44487). A client that cancels all the calls that it may have open stays within the limit, and delays others by
   * some 40 ms.
   */
  streamResetsBurst: 100,
  streamResetsPerSecond: 33,
} as const;

/** The type of {@link listenerLimits}; tests make them short. */
export type ListenerLimits = { readonly [Limit in keyof typeof listenerLimits]: number };
