# frozen_string_literal: true

# Report to saltern: one line of JSON on a stream that it reads, marked so that no log has it.
require "json"

module SalternReport
  MARK = "\x1e"
  LONGEST = 16_384 # characters of one text; the whole is in the log, if the engine prints it
  MOST = 500 # items of a list or mapping
  DEEPEST = 8

  class << self
    # Half a line of the engine before an event would hide the event: one that it writes whole lines to.
    attr_reader :stream

    def stream=(stream)
      stream.sync = true
      @stream = stream
    end
  end
  self.stream = $stdout

  module_function

  def report(event, **values)
    reported = values.transform_values { |value| plain(value) }
    SalternReport.stream.write("#{MARK}#{JSON.generate({ event: event, **reported }, ascii_only: true)}\n")
  rescue SystemCallError
    nil # no reader is left; the run continues
  end

  def plain(value, depth = 0)
    case value
    when nil, true, false, Integer then value
    when Float then value.finite? ? value : value.to_s
    when Hash then depth < DEEPEST ? value.first(MOST).to_h { |key, inner| [text(key), plain(inner, depth + 1)] } : "…"
    when Array then depth < DEEPEST ? value.first(MOST).map { |inner| plain(inner, depth + 1) } : "…"
    else text(value)
    end
  end

  def text(value)
    whole = value.to_s.dup
    whole.force_encoding(Encoding::UTF_8) if whole.encoding == Encoding::BINARY || !whole.valid_encoding?
    whole = whole.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
    whole = whole.scrub { |bytes| bytes.unpack("C*").map { |byte| format('\x%02x', byte) }.join }
    return whole if whole.size <= LONGEST

    half = LONGEST / 2
    "#{whole[0, half]}\n… #{whole.size - LONGEST} characters left out …\n#{whole[-half, half]}"
  end
end
