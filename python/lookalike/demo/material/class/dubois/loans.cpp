// Homework 4: the library's loans. Each line of the input reads day,member,title,action.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

const int days_free = 21;
const int cents_per_day = 20;

// One line of the input.
struct Event {
    int day;
    std::string member;
    std::string title;
    std::string action;
};

// Returns the events of a file.
std::vector<Event> read_events(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot open " + path);
    }
    std::vector<Event> events;
    std::string line;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#') {
            continue;
        }
        std::istringstream fields(line);
        Event event;
        std::string day;
        std::getline(fields, day, ',');
        std::getline(fields, event.member, ',');
        std::getline(fields, event.title, ',');
        std::getline(fields, event.action, ',');
        event.day = std::stoi(day);
        events.push_back(event);
    }
    return events;
}

class Ledger {
public:
    explicit Ledger(std::vector<Event> events) : events_(std::move(events)) {
        std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
            return a.title != b.title ? a.title < b.title : a.day < b.day;
        });
    }

    // The events of one title lie side by side, so a title is a range.
    template <typename Visit>
    void each_title(Visit visit) const {
        auto first = events_.begin();
        while (first != events_.end()) {
            auto last = std::find_if(first, events_.end(), [&](const Event& e) { return e.title != first->title; });
            visit(first, last);
            first = last;
        }
    }

    int debt_of(const std::string& name, int now) const {
        int days = 0, since = -1;
        for (const Event& e : events_) {
            if (e.member != name) continue;
            if (e.action == "out") {
                if (since >= 0) days += std::max(now - since - days_free, 0);
                since = e.day;
            } else if (since >= 0) {
                days += std::max(e.day - since - days_free, 0);
                since = -1;
            }
        }
        return cents_per_day * (days + (since >= 0 ? std::max(now - since - days_free, 0) : 0));
    }

private:
    std::vector<Event> events_;
};

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: loans FILE\n";
        return 2;
    }
    std::vector<Event> events = read_events(argv[1]);
    int now = std::accumulate(events.begin(), events.end(), 0, [](int n, auto& e) { return std::max(n, e.day); });
    Ledger ledger(events);
    std::vector<std::pair<long, std::string>> ranking;
    ledger.each_title([&](auto first, auto last) {
        ranking.emplace_back(std::count_if(first, last, [](auto& e) { return e.action == "out"; }), first->title);
        if ((last - 1)->action == "out") std::cout << first->title << " is away\n";
    });
    std::sort(ranking.rbegin(), ranking.rend());
    ranking.resize(std::min<std::size_t>(3, ranking.size()));
    for (auto& place : ranking) std::cout << place.second << ' ' << place.first << '\n';
    std::vector<std::string> names;
    for (auto& e : events) names.push_back(e.member);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (auto& name : names) std::cout << name << ": " << ledger.debt_of(name, now) << "c\n";
    return 0;
}
