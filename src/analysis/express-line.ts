/** Short work that waits for the express place. The accounts take turns, so that no account delays the others by more than one turn. */
interface ExpressLine<T> {
  /** The number of accounts with waiting work. */
  readonly accounts: number;
  add(account: string, work: T): void;
  remove(account: string, work: T): void;
  /** Returns the first work of the first account that is not in `excluded`. */
  next(excluded: ReadonlySet<string>): T | undefined;
  /** Call this when work of the account has been served. The next turn of the account is after all other accounts. */
  served(account: string): void;
  /** Returns the work that is served before new work of the account. */
  before(account: string, excluded: ReadonlySet<string>): IteratorObject<T>;
  /** Returns all work in the order in which it is served if no more work arrives. */
  order(excluded: ReadonlySet<string>): Iterable<T>;
}

export function createExpressLine<T>(): ExpressLine<T> {
  /** The first account of the map has the next turn. */
  const accounts = new Map<string, Set<T>>();

  return {
    get accounts() {
      return accounts.size;
    },
    add(account, work) {
      const waiting = accounts.get(account) ?? new Set();
      accounts.set(account, waiting.add(work));
    },
    remove(account, work) {
      const waiting = accounts.get(account);
      waiting?.delete(work);
      if (waiting?.size === 0) {
        accounts.delete(account);
      }
    },
    next(excluded) {
      for (const [account, waiting] of accounts) {
        if (!excluded.has(account)) {
          const [first] = waiting;
          return first;
        }
      }
      return undefined;
    },
    served(account) {
      const waiting = accounts.get(account);
      if (waiting) {
        accounts.delete(account);
        accounts.set(account, waiting);
      }
    },
    *before(account, excluded) {
      const turns = 1 + (accounts.get(account)?.size ?? 0);
      for (const [other, waiting] of accounts) {
        yield* excluded.has(other) ? [] : waiting.values().take(turns);
      }
    },
    *order(excluded) {
      const included = [...accounts].filter(([account]) => !excluded.has(account));
      let turns = included.map(([, waiting]) => waiting.values());
      while (turns.length > 0) {
        const thisRound = turns;
        turns = [];
        for (const turn of thisRound) {
          const { value, done } = turn.next();
          if (!done) {
            yield value;
            turns.push(turn);
          }
        }
      }
    },
  };
}
