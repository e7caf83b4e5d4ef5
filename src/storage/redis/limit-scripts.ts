import { redisScript } from "./connection.ts";

/**
 * Redis keys. All times are by Redis's clock.
 * - `window:<rate> <subject>`: hash with the field `used`. The key expires when the window ends.
 * - `places:<subject>`: sorted set of the searches in flight. The score is the time when an entry expires.
 * - `turns:<subject>`: sorted set of the requests that wait for a place. The score is the time when an entry expires. An entry
 *   begins with the time of its arrival, so the alphabetical order is the order of arrival.
 */
const prelude = `
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function whole(number)
  return string.format('%.0f', number)
end

-- The used part of a window and the milliseconds that it lasts: -1 if it has not begun. No window lasts longer than its length:
-- the length may be shorter now, or Redis's clock was wrong.
local function useOf(key, windowMs)
  local left = redis.call('PTTL', key)
  if left <= 0 then
    return {0, -1}
  end
  if windowMs < left then
    redis.call('PEXPIRE', key, whole(windowMs))
    left = windowMs
  end
  return {tonumber(redis.call('HGET', key, 'used') or 0), left}
end

-- Adds to a window, and returns its use. The sooner one of two ends holds.
local function add(key, amount, windowMs)
  local used = redis.call('HINCRBY', key, 'used', whole(amount))
  local left = redis.call('PTTL', key)
  if left < 0 or windowMs < left then
    redis.call('PEXPIRE', key, whole(windowMs))
    left = windowMs
  end
  return {used, left}
end
`;

/**
 * Keys: the searches in flight of the subject, the waiting requests of the subject, windows of engine time, windows of requests.
 * Argument: {@link EnterArguments}. Returns a list that begins with `entered`, `late` (after `latestMs`), `busy`, `exhausted`
 * (engine time) or `full` (requests).
 */
export const enterScript = redisScript(
  "enter",
  `${prelude}
local asked, places, turns, now = cjson.decode(ARGV[1]), KEYS[1], KEYS[2], clock()
if asked.latestMs and now > asked.latestMs then
  return {'late'}
end
-- An entry that expires later than a new entry comes from a time when Redis's clock was wrong. A living node renews its entries.
local from, till, turnsTill = '(' .. whole(now), whole(now + asked.heldMs), whole(now + asked.turnMs)
local turn = asked.turn
if turn == '' then
  turn = whole(now) .. ':' .. asked.name
end

local function isBusy()
  local count = redis.call('ZCOUNT', places, from, till)
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', turns, from, turnsTill)) do
    if not turn or other < turn then
      count = count + 1
    end
  end
  return count >= asked.concurrent
end

if asked.concurrent and isBusy() then
  if turn then
    redis.call('ZADD', turns, whole(now + asked.turnMs), turn)
    redis.call('PEXPIRE', turns, whole(asked.turnMs))
  end
  return {'busy', whole(now), redis.call('ZRANGEBYSCORE', places, from, till, 'LIMIT', 0, 100), turn or ''}
end
if turn then
  redis.call('ZREM', turns, turn)
end

-- The uses of windows, and whether one of them has no room for so many more.
local function roomIn(windows, before, count)
  local uses, isFull = {}, false
  for index, window in ipairs(windows) do
    uses[index] = useOf(KEYS[before + index], window.windowMs)
    isFull = isFull or uses[index][1] + count > window.quota
  end
  return uses, isFull
end

local before = 2 + #asked.engineTime
local engineTime, isExhausted = roomIn(asked.engineTime, 2, 1)
local uses, isFull = roomIn(asked.requests, before, asked.count)
if isExhausted then
  return {'exhausted', engineTime, uses}
end
if isFull then
  return {'full', engineTime, uses}
end
local place = ''
if asked.concurrent then
  place = asked.name .. ':' .. whole(now) .. ':' .. whole(asked.expectedMs)
  redis.call('ZADD', places, whole(now + asked.heldMs), place)
  redis.call('PEXPIRE', places, whole(asked.heldMs))
  redis.call('ZREMRANGEBYSCORE', places, '-inf', whole(now))
end
for index, window in ipairs(asked.requests) do
  uses[index] = add(KEYS[before + index], asked.count, window.windowMs)
end
return {'entered', engineTime, uses, place}
`,
);

export interface EnterArguments {
  /** After this time, the script does nothing, because the reply would be late. Undefined until Redis's clock is known. */
  readonly latestMs: number | undefined;
  /** The maximum number of searches in flight. Undefined if there is no limit. */
  readonly concurrent: number | undefined;
  /** The request's entry among the waiting requests: empty at the first attempt, and undefined if the request does not wait. */
  readonly turn: string | undefined;
  /** Milliseconds until the entry of a waiting request expires, unless the request tries again. */
  readonly turnMs: number;
  /** The first part of the entry's name. The script appends the current time and the expected time of the search. */
  readonly name: string;
  readonly expectedMs: number;
  readonly heldMs: number;
  readonly engineTime: readonly { readonly quota: number; readonly windowMs: number }[];
  readonly requests: readonly { readonly quota: number; readonly windowMs: number }[];
  readonly count: number;
}

/** Keys: the subject's searches in flight, windows of engine time, windows of requests. Argument: {@link LeaveArguments}. */
export const leaveScript = redisScript(
  "leave",
  `${prelude}
local left = cjson.decode(ARGV[1])
redis.call('ZREM', KEYS[1], left.place)
for index, windowMs in ipairs(left.engineTime) do
  add(KEYS[1 + index], left.engineMs, windowMs)
end
for index = 2 + #left.engineTime, #KEYS do
  local used = tonumber(redis.call('HGET', KEYS[index], 'used') or 0)
  if used > 0 then
    redis.call('HINCRBY', KEYS[index], 'used', whole(-math.min(used, left.count)))
  end
end
`,
);

export interface LeaveArguments {
  readonly place: string;
  readonly engineMs: number;
  /** The lengths of the windows of engine time, in milliseconds. */
  readonly engineTime: readonly number[];
  /** The use of each window of requests is lowered by this number. */
  readonly count: number;
}

/** Renews entries. Keys: the sorted set of each entry. Arguments: milliseconds until the entries expire, and the entries. */
export const holdScript = redisScript(
  "hold",
  `${prelude}
local untilMs = whole(clock() + ARGV[1])
for index, key in ipairs(KEYS) do
  redis.call('ZADD', key, untilMs, ARGV[1 + index])
  redis.call('PEXPIRE', key, ARGV[1])
end
`,
);

/** Key: the window. Arguments: the amount to add, the length of the window in milliseconds. Returns the use of the window. */
export const addScript = redisScript("add", `${prelude} return add(KEYS[1], ARGV[1], tonumber(ARGV[2]))`);

/** Keys: the windows. Arguments: the lengths of the windows in milliseconds. Returns the use of each window. */
export const usesScript = redisScript(
  "uses",
  `${prelude}
local uses = {}
for index, key in ipairs(KEYS) do
  uses[index] = useOf(key, tonumber(ARGV[index]))
end
return uses
`,
);
