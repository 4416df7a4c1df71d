import Delivery
import Domain
import Encoding
import Yams

/// `senders:` of `delivery.yaml`: a list of mappings, each with a `kind:` and the keys of that kind.
extension PolicyField {
    static var senders: PolicyField {
        PolicyField("senders", expected: expectedSenders, set: set) { policy in json(policy.delivery.senders) }
    }

    private static func set(_ node: Node, _ policy: inout Policy) -> [Fault] {
        guard let nodes = node.sequence, (1...SenderKind.all.count).contains(nodes.count) else {
            return [Fault(expected: expectedSenders)]
        }
        var faults: [Fault] = []
        var entries: [SenderEntry] = []
        for (index, node) in nodes.enumerated() {
            switch entry(node, at: "[\(index)]") {
            case .success(let entry) where entries.contains(where: { $0.kind == entry.kind }):
                faults.append(
                    Fault(line: node.mark?.line, path: "[\(index)].kind", expected: "each kind once is expected"))
            case .success(let entry): entries.append(entry)
            case .failure(let wrong): faults += wrong.faults
            }
        }
        if faults.isEmpty { policy.delivery.senders = entries }
        return faults
    }

    private static func json(_ entries: [SenderEntry]) -> JSONValue {
        .array(
            entries.map { entry in
                let values = entry.values.sorted { $0.key < $1.key }
                return .object(
                    [JSONMember(name: "kind", value: .string(entry.kind))]
                        + values.map { JSONMember(name: $0.key, value: .string($0.value)) })
            })
    }

    private static let kinds = SenderKind.all.map(\.name).joined(separator: ", ")
    private static let expectedSenders = "a list of entries such as \"- kind: file\" is expected"

    private struct Faults: Error {
        let faults: [Fault]
    }

    /// - Parameter path: the entry's place in the list.
    private static func entry(_ node: Node, at path: String) -> Result<SenderEntry, Faults> {
        func failure(_ fault: Fault) -> Result<SenderEntry, Faults> { .failure(Faults(faults: [fault])) }
        guard let mapping = node.mapping else {
            return failure(Fault(line: node.mark?.line, path: path, expected: "\"kind: NAME\" is expected"))
        }
        guard let name = mapping["kind"], let kind = SenderKind.all.first(where: { $0.name == name.scalar?.string })
        else {
            return failure(
                Fault(
                    line: (mapping["kind"] ?? node).mark?.line, path: path + ".kind",
                    expected: "one of \(kinds) is expected"))
        }
        var faults: [Fault] = []
        var values: [String: String] = [:]
        var lines: [String: Int] = [:]
        for (key, value) in mapping {
            let name = key.scalar?.string ?? ""
            let line = key.mark?.line
            lines[name] = line
            if name == "kind" { continue }
            if let text = value.scalar?.string, kind.keys.contains(where: { $0.name == name }) {
                values[name] = text
            } else if kind.keys.contains(where: { $0.name == name }) {
                faults.append(Fault(line: line, path: "\(path).\(name)", expected: "one plain value is expected"))
            } else {
                let sentence = UnknownKey.sentence(name, known: kind.keys.map(\.name))
                faults.append(Fault(line: line, path: "\(path).\(name)", expected: sentence, isUnknownKey: true))
            }
        }
        let entry = SenderEntry(kind: kind.name, values: values)
        if faults.isEmpty, let (key, expected) = kind.defect(in: entry) {
            faults = [
                Fault(
                    line: lines[key] ?? lines["kind"], path: "\(path).\(key)", expected: "\(expected) is expected")
            ]
        }
        return faults.isEmpty ? .success(entry) : .failure(Faults(faults: faults))
    }
}
