#!/usr/bin/env ruby
# frozen_string_literal: true

module Markdown
  Node = Struct.new(:kind, :text, keyword_init: true)
  RULES = {
    heading: /\A(?<level>\#{1,6})\s+(?<text>.*)/,
    item: /\A[-*]\s+(?<text>.*)/,
  }.freeze

  class << self
    def parse(source, &block)
      lines = source.lines.map(&:chomp).reject(&:empty?)
      nodes = lines.flat_map do |line|
        kind, match = RULES.lazy.filter_map { |k, r| (m = r.match(line)) && [k, m] }.first
        Node.new(kind: kind || :text, text: match&.[](:text) || line)
      end
      block ? nodes.each(&block) : nodes
    end

    private

    def escape(text) = text.gsub(/[&<>]/, '&' => '&amp;', '<' => '&lt;', '>' => '&gt;')
  end

  TEMPLATE = <<~HTML
    <!doctype html>
    <title>%{title}</title>
  HTML
end

class Renderer < BasicObject
  include ::Comparable

  def initialize(out: $stdout, **options)
    @out, @depth = out, options.fetch(:depth, 0)
  end

  def <=>(other)
    depth <=> other.depth
  end

  def method_missing(tag, *children, **attributes)
    @depth += 1
    case tag
    when :br, :hr then @out.print("<#{tag}>")
    when ->(t) { t.end_with?('!') } then super
    else
      children.each { |child| @out << (child.is_a?(::Proc) ? child.call : child) }
    end
  ensure
    @depth -= 1
  end

  def respond_to_missing?(*) = true
end

until ARGV.empty?
  name = ARGV.shift
  retries ||= 3
  begin
    Markdown.parse(File.read(name)) { |node| puts node.text.upcase unless node.kind == :text }
  rescue Errno::ENOENT, IOError
    retries -= 1
    retry if retries.positive?
    abort %q(cannot open it)
  end
end
