# Grade book: collects scores and prints a report.
require 'set'

LIMIT = 100

class GradeBook
  attr_reader :title, :refused

  def initialize(title)
    @title = title
    @scores = Hash.new { |hash, key| hash[key] = [] }
    @refused = 0
  end

  def histogram(width = 10)
    bins = Array.new(LIMIT / width + 1, 0)
    @scores.each_key do |name|
      bins[mean(name).to_i / width] += 1
    end
    bins.each_with_index do |count, bin|
      puts "#{bin * width}".rjust(3) + ' ' + '*' * count
    end
  end

  # Best first.
  def ranking
    places = @scores.keys.map { |name| [mean(name), name] }
    places.sort_by { |value, _name| -value }.each_with_index do |place, index|
      yield index + 1, place.last, place.first
    end
  end

  def median(name)
    sorted = @scores[name].sort
    half = sorted.length / 2
    if sorted.length.odd?
      sorted[half]
    else
      (sorted[half - 1] + sorted[half]) / 2.0
    end
  end

  def mean(name)
    list = @scores[name]
    return 0.0 if list.empty?
    sum = 0
    list.each do |score|
      sum += score
    end
    sum / list.length.to_f
  end

  # Adds a score, unless it cannot be one.
  def add(name, score)
    if score < 0 || score > LIMIT
      @refused += 1
      warn "bad score for #{name}: #{score}"
      return false
    end
    @scores[name] << score
    true
  end

  def self.read(path)
    book = new('algorithms')
    File.foreach(path) do |line|
      next unless line =~ /^\s*(\w+),\s*([0-9.]+)$/
      begin
        book.add($1.to_sym, Float($2))
      rescue ArgumentError => error
        puts "cannot read: #{error.message}"
      end
    end
    book
  end
end

book = GradeBook.read(ARGV[0])
book.histogram
book.ranking do |place, name, value|
  puts format('%d %s %.2f', place, name, value)
end
