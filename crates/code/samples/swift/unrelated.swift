import SwiftUI

/// A cache that evicts what was used least recently, as a generic actor.
protocol Evicting: AnyObject {
    associatedtype Key: Hashable
    func evict(_ key: Key) async
}

enum CacheError: Error, CustomStringConvertible {
    case full(capacity: Int)
    case missing

    var description: String {
        switch self {
        case .full(let capacity): return "full at \(capacity)"
        case .missing: return #"no such "key""#
        }
    }
}

final class Node<Key, Value> {
    let key: Key
    var value: Value
    weak var previous: Node?
    var next: Node?

    init(_ key: Key, _ value: Value) { (self.key, self.value) = (key, value) }
    deinit { next = nil }
}

actor Cache<Key: Hashable & Sendable, Value> where Value: Sendable {
    private var nodes = [Key: Node<Key, Value>]()
    private(set) var head, tail: Node<Key, Value>?
    nonisolated let capacity: Int

    init?(capacity: Int) {
        guard capacity > 0 else { return nil }
        self.capacity = capacity
    }

    subscript(key: Key) -> Value? {
        get { nodes[key].map { $0.value } }
    }

    func store(_ value: Value, for key: Key) throws {
        if let node = nodes[key] {
            node.value = value
            touch(node)
            return
        }
        while nodes.count >= capacity, let last = tail {
            nodes.removeValue(forKey: last.key)
            tail = last.previous
            tail?.next = nil
        }
        let node = Node(key, value)
        nodes[key] = node
        touch(node)
    }

    private func touch(_ node: Node<Key, Value>) {
        defer { head = node }
        node.previous?.next = node.next
        node.next?.previous = node.previous
        (node.previous, node.next) = (nil, head)
        head?.previous = node
        if tail === node { tail = node.previous ?? node }
    }
}

extension Int {
    static prefix func ~~ (value: Int) -> Int { value ^ 0xFF &* 3 }
    var isEven: Bool { self & 1 == 0 }
}

@main
struct Demo: App {
    @State private var count = 0
    var body: some Scene {
        WindowGroup {
            Button("tap") { count += 1 }.padding(.all, 8).disabled(count > 3)
        }
    }
}

Task {
    let numbers = (1...10).lazy.filter(\.isEven).map { $0 * 2 }.reduce(into: 0, +=)
    repeat { try? await Task.sleep(nanoseconds: 1_000) } while numbers < 0 && !Task.isCancelled
}
