import Domain
import Encoding
import Fixtures
import Foundation
import Testing

extension Reply {
    /// Members with identifiers that clients choose, by the beginning of the path.
    private static let chosenByClients: [(path: String, members: Set<String>)] = [
        ("/", ["device_id", "external_id"]), ("/authorizations", ["id"]),
        ("/streams", ["id", "in_reply_to", "thread"]),
        ("/sync", ["id", "stream_id", "event_id", "in_reply_to", "thread"]), ("/me/export", ["id", "stream_id"]),
        ("/provider/users/", ["id"]), ("/presence", ["user_id"]),
    ]

    /// Every identifier of an answer is of this cell, unless a client chose it.
    func judgeIdentifiers() {
        // Documents with examples.
        guard !["/openapi.json", "/problems/"].contains(where: path.hasPrefix) else { return }
        guard let body = try? StrictJSON.parse(body) else { return }
        let chosen = Self.chosenByClients.filter { path.hasPrefix($0.path) }.flatMap(\.members)
        judge(body, member: "", except: Set(chosen))
    }

    private func judge(_ value: JSONValue, member: String, except chosen: Set<String>) {
        switch value {
        case .object(let members): for one in members { judge(one.value, member: one.name, except: chosen) }
        case .array(let values): for one in values { judge(one, member: member, except: chosen) }
        case .string(let text):
            guard !chosen.contains(member), let id = UUID(uuidString: text) else { return }
            #expect(Cell(of: id) == .ofTests, "\(method) \(path) has \(member) \(text)")
        default: return
        }
    }
}
