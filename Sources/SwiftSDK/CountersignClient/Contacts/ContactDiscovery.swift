import Foundation
import HTTPTypes

/// Private contact discovery (RFC 9497). The service learns the number of contacts and up to eight bits of each output.
/// It learns neither the phone numbers nor which of them were found.
public struct ContactDiscovery: Sendable {
    let client: Countersign

    /// The number of elements in one request.
    static let elements = 64

    /// The users who can be found by some numbers.
    ///
    /// Each number is evaluated once, in random order. The service evaluates at most 2,000 numbers a day. So an app
    /// should keep its results and search for new contacts only. It must search again when a new week's key is
    /// published.
    ///
    /// - Parameter numbers: in E.164 form and today's spelling, such as `+14155552671`. Other forms are not found.
    /// - Returns: user ids by number.
    /// - Throws: ``Refusal/untrusted(_:)`` if an evaluation was not made with the key that the service has published.
    public func find(_ numbers: some Collection<String>) async throws(Refusal) -> [String: UUID] {
        let numbers = Set(numbers).shuffled()
        guard !numbers.isEmpty else { return [:] }
        let week: Week = try await client.perform(Call(.get, "/contact-discovery"))
        guard week.suite == "P384-SHA384", (0...8).contains(week.bits),
            let key = Data(base64URL: week.publicKey), let question = try? BlindedQuestion(publicKey: key)
        else { throw .unreadable("this version does not support the key of contact discovery") }
        var outputs: [(number: String, output: Data)] = []
        for start in stride(from: 0, to: numbers.count, by: Self.elements) {
            let part = Array(numbers[start..<min(start + Self.elements, numbers.count)])
            outputs += try await evaluate(part, question, week)
        }
        var found: [String: UUID] = [:]
        for (bucket, members) in Dictionary(grouping: outputs, by: { Self.bucket(of: $0.output, bits: week.bits) }) {
            let entries = try await download(bucket, week)
            for (number, output) in members {
                guard let masked = entries[output.prefix(Self.half)] else { continue }
                found[number] = Self.unmask(masked, output)
            }
        }
        return found
    }

    struct Week: Decodable, Sendable {
        let suite: String
        let week: Int64
        let publicKey: String
        let bits: Int

        private enum CodingKeys: String, CodingKey {
            case suite, week, bits
            case publicKey = "public_key"
        }
    }

    private func evaluate(
        _ numbers: [String], _ question: BlindedQuestion, _ week: Week
    ) async throws(Refusal) -> [(number: String, output: Data)] {
        struct Body: Encodable {
            let week: Int64
            let blinded: [String]
        }
        struct Evaluated: Decodable { let evaluations: [String] }
        let blinded: BlindedQuestion.Batch
        do { blinded = try question.blind(numbers) } catch { throw .unreadable("a number cannot be blinded") }
        var call = Call(.post, "/contact-discovery/evaluations", isRepeatable: true)
        call.request.headerFields[.contentType] = "application/json"
        call.body = try? JSONEncoder().encode(Body(week: week.week, blinded: blinded.elements.map(\.base64URL)))
        let answer: Evaluated = try await client.perform(call)
        do {
            let outputs = try blinded.finalize(answer.evaluations.compactMap { Data(base64URL: $0) })
            return Array(zip(numbers, outputs))
        } catch {
            throw .untrusted("an evaluation was not made with the key of contact discovery")
        }
    }

    /// The entries of a bucket: masked ids by tag.
    private func download(_ bucket: Int, _ week: Week) async throws(Refusal) -> [Data: Data] {
        struct Page: Decodable {
            let entries: String
            let next: String?
        }
        var entries: [Data: Data] = [:]
        var next: String?
        // Bounded, in case a response never ends.
        for _ in 0..<10_000 {
            let after = next.map { "&after=\($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
            let page: Page = try await client.perform(
                Call(
                    .get,
                    "/contact-discovery/entries?week=\(week.week)&bucket=\(bucket)&bits=\(week.bits)\(after ?? "")"))
            guard let bytes = Data(base64URL: page.entries) else { break }
            for place in stride(from: 0, to: bytes.count - bytes.count % Self.length, by: Self.length) {
                let entry = bytes[bytes.startIndex + place..<bytes.startIndex + place + Self.length]
                entries[Data(entry.prefix(Self.half))] = Data(entry.suffix(Self.half))
            }
            next = page.next
            if next == nil { return entries }
        }
        throw .unreadable("a bucket of contact discovery has no end")
    }

    private static let (half, length) = (16, 32)

    /// The bucket of an output: its first bits.
    static func bucket(of output: Data, bits: Int) -> Int { Int(output.first ?? 0) >> (8 - bits) }

    /// The user id under a mask.
    static func unmask(_ masked: Data, _ output: Data) -> UUID? {
        let bytes = zip(masked, output.suffix(half)).map { $0 ^ $1 }
        guard bytes.count == half else { return nil }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
