import Domain
import Encoding
import Foundation

extension BanOrder {
    /// The order with ids and blind indexes in place of names and numbers, and without the note.
    ///
    /// - Parameter entries: those of the planned ban.
    func content(_ entries: [BanEntry]) -> JSONValue {
        let subjects = entries.filter { $0.origin == .direct }.compactMap { entry -> JSONValue? in
            switch entry.subject {
            case .user(let id): .string(id.description)
            case .device(let id): .string(id.description)
            case .deviceKey: nil
            case .phone(let index), .document(let index):
                .object([
                    "version": entry.indexVersion.map { .integer(Int64($0)) }, "index": .string(index.base64URL),
                ])
            }
        }
        return .object([
            "kind": .string(target.kind.rawValue), "subjects": .array(subjects), "scope": .string(scope.rawValue),
            "reason": .string(reason.rawValue), "ends_at": endsAt.map { .integer($0.milliseconds) },
            "with_devices": .bool(withDevices), "replaces": .bool(replaces),
        ])
    }

    /// The order that `content(_:)` returned; `nil` for another text.
    ///
    /// - Throws: `Refusal` `malformed_request` for the note.
    init?(content: JSONValue, note: String?) throws(Refusal) {
        guard let kind = content["kind"]?.text.flatMap({ Ban.SubjectKind(rawValue: $0) }),
            let target = BanTarget(kind, content["subjects"]),
            let scope = content["scope"]?.text.flatMap({ Ban.Scope(rawValue: $0) }),
            let reason = content["reason"]?.text.flatMap({ Ban.Reason(rawValue: $0) }),
            case .bool(let withDevices) = content["with_devices"], case .bool(let replaces) = content["replaces"]
        else { return nil }
        var endsAt: Date?
        if case .integer(let milliseconds) = content["ends_at"] { endsAt = Date(milliseconds: milliseconds) }
        try self.init(
            target: target, scope: scope, reason: reason, note: note, endsAt: endsAt, withDevices: withDevices,
            replaces: replaces)
    }
}

package extension WaitingAct {
    /// The ban that waits, without its note; `nil` for another act.
    var ban: BanOrder? {
        guard kind == .ban, let content = try? StrictJSON.parse(content.utf8) else { return nil }
        return try? BanOrder(content: content, note: nil)
    }
}

extension BanTarget {
    fileprivate init?(_ kind: Ban.SubjectKind, _ subjects: JSONValue?) {
        guard case .array(let subjects) = subjects, let first = subjects.first else { return nil }
        switch kind {
        case .user:
            guard let user = first.text else { return nil }
            self = .user(user)
        case .device:
            guard let device = first.text.flatMap({ DeviceID($0[...]) }) else { return nil }
            self = .device(device)
        case .phone, .document:
            let indexes = subjects.compactMap { value -> BanSubjectIndex.Versioned? in
                guard case .integer(let version) = value["version"],
                    let index = value["index"]?.text.flatMap({ Base64URL.decode($0) }).flatMap({ Digest256($0) })
                else { return nil }
                return (Int(clamping: version), kind == .phone ? .phone(index) : .document(index))
            }
            guard indexes.count == subjects.count else { return nil }
            self = .indexes(kind, indexes)
        }
    }
}
