-- A script for wrk. Sends the JSON bodies of a file, one per line, or requests the paths in the file, and prints the results as one line of JSON.
--
--     wrk ... -s questions.lua <url> -- <file>

wrk.method = "POST"

local questions = {}
asked = 0

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  for line in io.lines(args[1]) do
    local is_path = line:sub(1, 1) == "/"
    table.insert(questions, is_path and wrk.format("GET", line) or wrk.format(nil, nil, nil, line))
  end
  count = #questions
end

function request()
  asked = asked + 1
  return questions[(asked - 1) % count + 1]
end

function done(summary, latency, _)
  local thread = threads[1]
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"asked":%d,"questions":%d,'
      .. '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    thread:get("asked"), thread:get("count"),
    errors.connect, errors.read, errors.write, errors.status, errors.timeout
  ))
end
