import { redisScript } from "./connection.ts";

/**
 * How what is counted lies in Redis:
 *
 *     window:<rate> <subject>    hash: what is used of a window; it ends with its key
 *     usage:<rate> <subject>     the same of engine time
 *     places:<subject>           searches under way, by when their place is given back if their node says nothing more
 *     entries:<subject>          the same of what may be any number at a time, so that it can be undone
 *     outbox:<node>              the number of the last entry of its outbox that was carried out
 */

const prelude = `
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function whole(number)
  return string.format('%.0f', number)
end

-- Returns the used part of a window and the milliseconds that it lasts: -1 if it has not begun.
local function usage(key)
  local left = redis.call('PTTL', key)
  if left <= 0 then
    return 0, -1
  end
  return tonumber(redis.call('HGET', key, 'used') or 0), left
end

-- Of two ends of a window the sooner one holds.
local function add(key, amount, windowMs)
  local used = redis.call('HINCRBY', key, 'used', amount)
  local left = redis.call('PTTL', key)
  if left < 0 or windowMs < left then
    redis.call('PEXPIRE', key, windowMs)
    left = windowMs
  end
  return {used, left}
end
`;

/**
 * Whether a script comes late: what has been carried out of its node's outbox shows that it was sent before, or the time
 * has passed within which it was to be carried out. Then its node has given it up.
 */
const late = (node: string, sequence: string, deadline: string) =>
  `tonumber(redis.call('GET', ${node}) or 0) > tonumber(${sequence}) or ${deadline} ~= '' and clock() > tonumber(${deadline})`;

/**
 * Keys: the node, the places of the subject, windows of engine time, windows of requests.
 * Arguments: number of the last entry of the outbox, places at most, name of the place, expected milliseconds, milliseconds
 * that it is held, requests, how many windows of engine time, until when it is to be carried out or nothing; then for each
 * window of engine time the quota, and for each of requests quota and length.
 *
 * Answers `late`; `busy`, the time and the places; `exhausted` with the windows of engine time; `full` with those of requests; or
 * `admitted`, the place and the windows of requests.
 */
export const enterScript = redisScript(
  "enter",
  `${prelude}
if ${late("KEYS[1]", "ARGV[1]", "ARGV[8]")} then
  return {'late'}
end
local places, now, max, count, timed = KEYS[2], clock(), ARGV[2], tonumber(ARGV[6]), tonumber(ARGV[7])
local held = '(' .. whole(now)
if max ~= '' and redis.call('ZCOUNT', places, held, '+inf') >= tonumber(max) then
  return {'busy', whole(now), redis.call('ZRANGEBYSCORE', places, held, '+inf', 'LIMIT', 0, 100)}
end
local spent, isSpent = {}, false
for index = 1, timed do
  local used, left = usage(KEYS[2 + index])
  spent[index] = {used, left}
  isSpent = isSpent or used >= tonumber(ARGV[8 + index])
end
if isSpent then
  return {'exhausted', spent}
end
local uses, isFull = {}, false
for index = 3 + timed, #KEYS do
  local used, left = usage(KEYS[index])
  uses[#uses + 1] = {used, left}
  isFull = isFull or used + count > tonumber(ARGV[7 + timed + 2 * #uses])
end
if isFull then
  return {'full', uses}
end
-- First what takes memory: a Redis that is full refuses the first write of a script, and no later one.
local place = ARGV[3] .. whole(now) .. ':' .. ARGV[4]
redis.call('ZADD', places, whole(now + ARGV[5]), place)
redis.call('PEXPIRE', places, ARGV[5])
redis.call('ZREMRANGEBYSCORE', places, '-inf', whole(now))
for index = 1, #uses do
  uses[index] = add(KEYS[2 + timed + index], count, tonumber(ARGV[8 + timed + 2 * index]))
end
return {'admitted', place, uses}
`,
);

/**
 * Carries out the entries of a node's outbox that were not yet: however often one is sent, it counts once.
 *
 * Keys: the node, then one for each entry. Arguments: milliseconds that the node is remembered; then
 * for each entry its number, what is to be done, and two words for that:
 *
 * - `free` a place
 * - `undo` what a place was given to that begins with this; `undone` gives so much back where that was found
 * - `back` gives so much back to a window
 * - `add` so much to a window of this length
 *
 * Answers how the windows stand that were added to.
 */
export const settleScript = redisScript(
  "settle",
  `${prelude}
local last, undone, answers = tonumber(redis.call('GET', KEYS[1]) or 0), false, {}

local function giveBack(key, amount)
  local used = tonumber(redis.call('HGET', key, 'used') or 0)
  if used > 0 then
    redis.call('HINCRBY', key, 'used', -math.min(used, tonumber(amount)))
  end
end

local works = {
  free = function(key, place)
    redis.call('ZREM', key, place)
  end,
  undo = function(key, name)
    undone = false
    for _, place in ipairs(redis.call('ZRANGE', key, 0, -1)) do
      if string.sub(place, 1, #name) == name then
        undone = redis.call('ZREM', key, place) == 1
      end
    end
  end,
  undone = function(key, amount)
    if undone then
      giveBack(key, amount)
    end
  end,
  back = giveBack,
  add = function(key, amount, windowMs)
    return add(key, amount, tonumber(windowMs))
  end,
}

for index = 2, #KEYS do
  local at = 2 + (index - 2) * 4
  local number = tonumber(ARGV[at])
  if number > last then
    answers[index - 1] = works[ARGV[at + 1]](KEYS[index], ARGV[at + 2], ARGV[at + 3]) or 0
    last = number
  else
    answers[index - 1] = 0
  end
end
redis.call('SET', KEYS[1], whole(last), 'PX', ARGV[1])
return answers
`,
);

/**
 * Keys: the node, then the places. Arguments: number of the last entry, milliseconds, until when it is to be carried out or
 * nothing, then a place for each key.
 */
export const holdScript = redisScript(
  "hold",
  `${prelude}
if ${late("KEYS[1]", "ARGV[1]", "ARGV[3]")} then
  return 0
end
local until_ = whole(clock() + ARGV[2])
for index = 2, #KEYS do
  redis.call('ZADD', KEYS[index], until_, ARGV[index + 2])
  redis.call('PEXPIRE', KEYS[index], ARGV[2])
end
return 1
`,
);

/** Keys: windows. Returns the uses of each window. */
export const usesScript = redisScript(
  "uses",
  `${prelude}
local uses = {}
for index, key in ipairs(KEYS) do
  local used, left = usage(key)
  uses[index] = {used, left}
end
return uses
`,
);
