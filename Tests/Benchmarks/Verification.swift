import Cards
import Crypto
import Database
import Domain
import Encoding
import Fixtures
import Foundation
import NIOCore
import NIOPosix
import Repositories

/// From a telephone number to a verified identity: the calls over 64 keep-alive connections, and what they rest on.
struct Verification {
    let service: RunningService
    let quick: Bool
    let group: MultiThreadedEventLoopGroup
    let report: Report

    private let width = 64
    private var perConnection: Int { quick ? 4 : 32 }

    /// A user on the way.
    private struct Person {
        let session: String
        let number: String
        let document: String
    }

    func run() async throws {
        report.section("Phone and card", ["what", "CPU µs", "per second", "p50 ms", "p99 ms", "aim"])
        try parse()
        let provider = try await BenchmarkProvider(service)
        try await seal(provider)
        let process = MeasuredProcess(id: service.processIdentifier)
        let devices = try await Fleet.certify(8, on: service, group: group)
        let fleet = try await Fleet.connect(devices, count: width, port: Fleet.port(service.clientURL), group: group)
        let people = try await signIn(fleet, provider)
        let began = ContinuousClock.now

        let started = try await Load.run(
            fleet, processes: [process],
            requests: people.map { list in
                list.map { request("/phone-verifications", ["phone_number": $0.number], $0) }
            }, expecting: 202)
        row("POST /phone-verifications (the text by the outbox, file sender)", started)
        let codes = try await codes(count: width * perConnection)
        let checked = try await Load.run(
            fleet, processes: [process],
            requests: try zip(people, started.answers).map { list, answers in
                try zip(list, answers).map { person, answer in
                    request(
                        "/phone-verifications/\(try Self.text("id", answer))/check",
                        ["code": codes[person.number] ?? ""], person)
                }
            }, expecting: 200)
        row("POST /phone-verifications/{id}/check", checked)
        let shown = try await Load.run(
            fleet, processes: [process],
            requests: try people.map { list in
                try list.map { person in
                    request("/identity-cards", ["aamva": try Self.barcode(person)], person)
                }
            }, expecting: 201)
        row("POST /identity-cards", shown)
        let seconds = Self.seconds(since: began)
        guard shown.answers.joined().allSatisfy({ (try? Self.text("assurance", $0)) == "barcode" }) else {
            throw BenchmarkError("a card did not lift its user")
        }
        let count = width * perConnection
        report.row(
            "\(count.formatted()) users from number to barcode in \(seconds.places(1)) s", "",
            "\((Double(count) / seconds * 60).places(0)) a minute", "", "",
            "≥ 1,000 a minute; \(process.peakMiB.places(0)) MiB at most of ≤ 256 MiB")
        await fleet.close()
    }

    /// The reader alone, over every version of the standard and every deviation.
    private func parse() throws {
        var texts: [[UInt8]] = []
        for version in 1...11 {
            for code in ["VA", "CA", "NY", "TX", "ON", "QC"] {
                guard var specimen = CardSpecimen(code, version: version) else { throw BenchmarkError("no \(code)") }
                texts.append(specimen.bytes)
                for deviation in CardSpecimen.Deviation.allCases {
                    specimen.deviations = [deviation]
                    texts.append(specimen.bytes)
                }
            }
        }
        var times: [Int64] = []
        let rounds = quick ? 2 : 40
        times.reserveCapacity(rounds * texts.count)
        for _ in 0..<rounds {
            for text in texts {
                let start = ContinuousClock.now
                _ = try AAMVACard.read(text)
                times.append((ContinuousClock.now - start).components.attoseconds / 1_000_000_000)
            }
        }
        times.sort()
        let mean = Double(times.reduce(0, +)) / Double(times.count) / 1000
        func rank(_ part: Double) -> String {
            (Double(times[Int(Double(times.count - 1) * part)]) / 1e6).places(4)
        }
        report.row(
            "reading a barcode, \(texts.count.formatted()) specimens of all versions and deviations", mean.places(1),
            (1e6 / mean).places(0), rank(0.5), rank(0.99), "p99 ≤ 0.1 ms")
    }

    /// A whole row of `authenticated_users`, seven columns, with its SQL and the unwrapping of the user's key.
    private func seal(_ provider: BenchmarkProvider) async throws {
        let store = try SQLiteDatabase(path: service.path("store.db").path, clock: { Date() })
        let keys = try PersonalKeys(
            wrapping: [1: SymmetricKey(size: .bits256)], index: [1: SymmetricKey(size: .bits256)])
        guard let specimen = CardSpecimen("VA"), let facts = CardFacts(try AAMVACard.read(specimen.bytes).identityCard)
        else { throw BenchmarkError("no specimen") }
        let rounds = quick ? 200 : 5000
        let (sealing, opening) = try await store.write { transaction -> (Double, Double) in
            let user = try UserRepository(transaction).findOrCreate(
                providerID: provider.id, externalID: "sealed", newID: UserID(UUID()), at: transaction.now)
            let records = AuthenticatedUserRepository(transaction, keys: keys)
            _ = try records.phoneProven(user, "+14155552671", at: transaction.now)
            let start = ContinuousClock.now
            for _ in 0..<rounds {
                _ = try records.identityVerified(user.id, facts, assurance: .barcode, at: transaction.now)
            }
            let sealing = Self.seconds(since: start) * 1e6 / Double(rounds)
            let middle = ContinuousClock.now
            for _ in 0..<rounds {
                guard try records.find(user.id)?.documentNumber == facts.documentNumber else {
                    throw BenchmarkError("a row did not open")
                }
            }
            return (sealing, Self.seconds(since: middle) * 1e6 / Double(rounds))
        }
        try await store.close()
        report.row("sealing a row of authenticated_users", sealing.places(1), (1e6 / sealing).places(0), "", "", "")
        report.row("opening it", opening.places(1), (1e6 / opening).places(0), "", "", "")
    }

    private func signIn(_ fleet: Fleet, _ provider: BenchmarkProvider) async throws -> [[Person]] {
        let nonce = RequestBytes.make("POST", "/nonces", body: "")
        let nonces = try await fleet.run(
            [[ByteBuffer]](repeating: [ByteBuffer](repeating: nonce, count: perConnection), count: width))
        let now = Date()
        let requests = try nonces.enumerated().map { lane, answers in
            try answers.enumerated().map { index, answer in
                let token = try provider.es256.signer.identityToken(
                    provider: provider.id, kid: provider.es256.id, externalID: "verified-\(lane)-\(index)",
                    nonce: try Self.text("nonce", answer), now: now)
                return RequestBytes.make("POST", "/sessions", body: Self.json(["identity_token": token]))
            }
        }
        return try await fleet.run(requests).enumerated().map { lane, answers in
            try answers.enumerated().map { index, answer in
                let place = lane * perConnection + index
                return Person(
                    session: try Self.text("session_token", answer), number: "+1415\(2_000_000 + place)",
                    document: "T\(10_000_000 + place)")
            }
        }
    }

    /// The codes by number, once all texts are out.
    private func codes(count: Int) async throws -> [String: String] {
        for _ in 0..<1200 {
            let lines =
                (try? String(contentsOf: service.path("texts.jsonl"), encoding: .utf8))?.split(separator: "\n") ?? []
            if lines.count >= count {
                var codes: [String: String] = [:]
                for line in lines {
                    let value = try StrictJSON.parse(Array(line.utf8))
                    guard let number = value["to"]?.text, let code = value["text"]?.text?.split(separator: "#").last
                    else { continue }
                    codes[number] = String(code)
                }
                return codes
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw BenchmarkError("the texts did not come")
    }

    private static func barcode(_ person: Person) throws -> String {
        guard var specimen = CardSpecimen("VA") else { throw BenchmarkError("no specimen") }
        specimen.number = person.document
        // Nobody else's name: the same person on two users would wait for a reviewer.
        specimen.family =
            "SAMPLE"
            + String(person.document.map { Character(UnicodeScalar(0x41 + ($0.wholeNumberValue ?? 0)) ?? "A") })
        return Data(specimen.bytes).base64EncodedString()
    }

    private func request(_ path: String, _ body: [String: String], _ person: Person) -> ByteBuffer {
        RequestBytes.make(
            "POST", path, headers: ["Authorization: Layer session-token=\"\(person.session)\""], body: Self.json(body))
    }

    private static func json(_ members: [String: String]) -> String {
        JSONValue.object(members.map { JSONMember(name: $0.key, value: .string($0.value)) }).jsonText
    }

    private static func text(_ name: String, _ answer: Answer) throws -> String {
        guard let text = try StrictJSON.parse(Array(answer.body.readableBytesView))[name]?.text else {
            throw BenchmarkError("no \(name) in \(String(buffer: answer.body))")
        }
        return text
    }

    private static func seconds(since start: ContinuousClock.Instant) -> Double {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    private func row(_ name: String, _ load: Load) {
        report.row(
            name, load.microseconds.places(1), load.perSecond.places(0), load.p50.places(2), load.p99.places(2), "")
    }
}
