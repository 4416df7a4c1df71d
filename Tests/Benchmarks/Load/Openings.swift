import Crypto
import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import Tokens

/// What comes before a session: a nonce for each, and the provider's signature around it.
extension Fleet {
    /// Requests for nonces, so many for each connection.
    func nonceRequests(_ count: Int) -> [[ByteBuffer]] {
        let request = RequestBytes.make("POST", "/nonces", body: "")
        return [[ByteBuffer]](repeating: [ByteBuffer](repeating: request, count: count), count: connections.count)
    }

    /// Takes nonces and signs a token around each: the provider's work, outside every measurement.
    ///
    /// - Parameters:
    ///   - prefix: begins the names of the users, one for each request of each connection.
    ///   - user: the name of one user for all.
    func openings(
        _ count: Int, by key: BenchmarkProvider.Key, of provider: BenchmarkProvider, _ prefix: String,
        user: String? = nil
    ) async throws -> [[ByteBuffer]] {
        let nonces = try await run(nonceRequests(count))
        let now = Date()
        return try await withThrowingTaskGroup(of: (Int, [ByteBuffer]).self) { tasks in
            for (lane, answers) in nonces.enumerated() {
                tasks.addTask {
                    let requests = try answers.enumerated().map { index, answer in
                        let token = try key.signer.identityToken(
                            provider: provider.id, kid: key.id,
                            externalID: user ?? Self.name("\(prefix)-\(lane)-\(index)"),
                            nonce: try answer.text("nonce"), now: now)
                        let body = JSONValue.object([JSONMember(name: "identity_token", value: .string(token))])
                        return RequestBytes.make("POST", "/sessions", body: body.jsonText)
                    }
                    return (lane, requests)
                }
            }
            var all = [[ByteBuffer]](repeating: [], count: nonces.count)
            for try await (lane, requests) in tasks { all[lane] = requests }
            return all
        }
    }
}

extension Fleet {
    /// A user's name as providers make them: unlike its neighbour's.
    static func name(_ text: String) -> String {
        SHA256.hash(data: Data(text.utf8)).prefix(12).map { String(format: "%02x", $0) }.joined()
    }
}

extension Answer {
    /// A member of the body that is a text.
    func text(_ name: String) throws -> String {
        guard let text = try StrictJSON.parse(Array(body.readableBytesView))[name]?.text else {
            throw BenchmarkError("no \(name) in \(status): \(String(buffer: body).prefix(300))")
        }
        return text
    }
}
