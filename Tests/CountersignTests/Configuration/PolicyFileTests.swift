import Delivery
import Domain
import Fixtures
import Foundation
import Testing

@testable import countersign

@Suite("Policy files")
struct PolicyFileTests {
    /// The directory as shipped.
    private static let shipped = RunningService.root.appending(path: "Policies").path(percentEncoded: false)

    /// A directory with these files.
    private static func directory(_ files: [String: String]) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        for (name, text) in files {
            try Data(text.utf8).write(to: URL(filePath: directory.path + "/" + name))
        }
        return directory
    }

    @Test("The shipped files give every value, and each is the default")
    func shipped() {
        let reading = PolicyFiles.read(directory: Self.shipped, required: true)
        #expect(reading.defects == [])
        #expect(reading.policy == Policy())
        let names = PolicyArea.all.flatMap { area in area.fields.map { "\(area.name)/\($0.key)" } }
        #expect(Set(names) == Set(reading.lines.keys))
    }

    @Test("Every value of the policy can be set, and the table names it")
    func complete() throws {
        // The limits of networks are one value with three keys, and the rules of attestations one with seven.
        func isDivided(_ value: Any) -> Bool { value is NetworkLimits || value is CertificationPolicy.AttestationRules }
        func values(_ part: Any) -> Int {
            Mirror(reflecting: part).children.reduce(0) { $0 + (isDivided($1.value) ? values($1.value) : 1) }
        }
        let parts = Mirror(reflecting: Policy()).children.map { values($0.value) }
        #expect(parts == PolicyArea.all.map(\.fields.count))
        let table = try String(contentsOfFile: Self.shipped + "/README.md", encoding: .utf8)
        for area in PolicyArea.all {
            for field in area.fields { #expect(table.contains("| `\(area.name).yaml` | `\(field.key)` |")) }
        }
    }

    @Test("A missing file, an empty one and one of comments mean the defaults")
    func defaults() throws {
        let directory = try Self.directory(["bans.yaml": "", "cards.yaml": "# nothing\n"])
        #expect(try PolicyFiles.load(directory: directory.path, required: true) == Policy())
        #expect(try PolicyFiles.load(directory: directory.path + "/none", required: false) == Policy())
        #expect(throws: CommandFailure.self) {
            try PolicyFiles.load(directory: directory.path + "/none", required: true)
        }
    }

    @Test("Values are taken, times in every unit")
    func values() throws {
        let directory = try Self.directory([
            "phones.yaml": "digits: 8\nresend_after: [45s, 1m]\ncountries: [NO]\npresence_required: true\n"
                + "attested_only: true\n",
            "sessions.yaml": "attach: explicit\nidle_lifetime: 2h\nabsolute_lifetime: 30d\n",
            "bans.yaml": "change_poll_interval: 50ms\nmaximum_staleness: 500ms\nmaximum_clock_difference: 5s\n",
        ])
        var expected = Policy()
        expected.phones.digits = 8
        expected.phones.resendAfter = [45, 60]
        expected.phones.countries = ["NO"]
        expected.phones.presenceRequired = true
        expected.phones.attestedOnly = true
        expected.sessions.attach = .explicit
        expected.sessions.idleLifetime = 7200
        expected.sessions.absoluteLifetime = 30 * 86_400
        expected.bans.changePollInterval = 0.05
        expected.bans.maximumStaleness = 0.5
        expected.bans.maximumClockDifference = 5
        #expect(try PolicyFiles.load(directory: directory.path, required: true) == expected)
    }

    @Test(
        "A fault is told with file, line and key",
        arguments: [
            ("phones.yaml", "\ndigits: 3\n", 2, "digits"),
            ("phones.yaml", "digits: \"6\"\n", 1, "digits"),
            ("phones.yaml", "digits: six\n", 1, "digits"),
            ("phones.yaml", "digits: [6]\n", 1, "digits"),
            ("phones.yaml", "digits:\n", 1, "digits"),
            ("phones.yaml", "digits: -6\n", 1, "digits"),
            ("phones.yaml", "digits: 99999999999999999999\n", 1, "digits"),
            ("phones.yaml", "digits: 6\ndigits: 7\n", 1, "digits"),
            ("phones.yaml", "countries: [US, us]\n", 1, "countries"),
            ("phones.yaml", "countries: [US, US]\n", 1, "countries"),
            ("phones.yaml", "presence_required: yes\n", 1, "presence_required"),
            ("phones.yaml", "sends_per_day_per_number: 4\n", 1, "sends_per_day_per_number"),
            ("certification.yaml", "gate: closed\n", 1, "gate"),
            ("certification.yaml", "# a gate\ngate: captcha\n", 2, "gate"),
            ("certification.yaml", "captcha_url: http://captcha.example/\n", 1, "captcha_url"),
            ("certification.yaml", "captcha_url: https://captcha.example:99999/\n", 1, "captcha_url"),
            ("certification.yaml", "captcha_url: https://captcha.example/\n", 1, "captcha_url"),
            ("delivery.yaml", "\ntexts: [\"xx {code}\"]\n", 2, "texts"),
            ("delivery.yaml", "\ntexts: [\"de none\"]\n", 2, "texts"),
            ("certification.yaml", "policy_oid: 2.25.01\n", 1, "policy_oid"),
            ("certification.yaml", "policy_oid: 2.25.1306547093421987463\n", 1, "policy_oid"),
            ("certification.yaml", "policy_oid: 1.3.2147483648\n", 1, "policy_oid"),
            ("certification.yaml", "policy_oid: 2.2147483568.1\n", 1, "policy_oid"),
            ("certification.yaml", "policy_oid: 1.40\n", 1, "policy_oid"),
            ("delivery.yaml", "senders: []\n", 1, "senders"),
            ("delivery.yaml", "senders: sns\n", 1, "senders"),
            ("delivery.yaml", "senders: [sns]\n", 1, "senders[0]"),
            ("delivery.yaml", "senders:\n  - kind: sns\n  - kind: sns\n", 3, "senders[1].kind"),
            ("delivery.yaml", "senders: [{kind: pigeon}]\n", 1, "senders[0].kind"),
            ("delivery.yaml", "senders:\n  - region: us-east-1\n", 2, "senders[0].kind"),
            ("delivery.yaml", "senders:\n  - kind: twilio\n    account: AC1\n", 2, "senders[0].from"),
            ("delivery.yaml", "senders:\n  - kind: file\n  - kind: webhook\n", 3, "senders[1].url"),
            ("delivery.yaml", "senders:\n  - kind: sns\n    region: [a]\n", 3, "senders[0].region"),
            ("authorizations.yaml", "required_level: mdoc\n", 1, "required_level"),
            ("cards.yaml", "barcode_keys: [\"CA did:web:issuer.example#key-1 z6Mk\"]\n", 1, "barcode_keys"),
            ("delivery.yaml", "\ntext: Your code is on its way.\n", 2, "text"),
            ("delivery.yaml", "senders:\n - kind: webhook\n   url: http://receiver.example/\n", 3, "senders[0].url"),
            ("delivery.yaml", "senders:\n - kind: webhook\n   url: https://127.1/texts\n", 3, "senders[0].url"),
            (
                "delivery.yaml",
                "senders:\n - kind: twilio\n   account: AC1\n   from: a\n   endpoint: https://api.twilio.com/#x\n", 5,
                "senders[0].endpoint"
            ),
            (
                "delivery.yaml", "senders:\n - kind: webhook\n   url: https://a.example\n   secret_file: ../w\n", 4,
                "senders[0].secret_file"
            ),
            ("delivery.yaml", "connect_timeout: 20s\n", 1, "connect_timeout"),
            ("identity-tokens.yaml", "maximum_lifetime: 25h\n", 1, "maximum_lifetime"),
            ("nonces.yaml", "lifetime: 10w\n", 1, "lifetime"),
            ("bans.yaml", "maximum_staleness: 150ms\n", 1, "maximum_staleness"),
            ("webhooks.yaml", "events_per_poll: 257\n", 1, "events_per_poll"),
        ])
    func faults(file: String, text: String, line: Int, key: String) throws {
        let directory = try Self.directory([file: text])
        let defects = PolicyFiles.read(directory: directory.path, required: true).defects
        #expect(defects.map(\.file) == [directory.path + "/" + file])
        #expect(defects.map(\.line) == [line])
        #expect(defects.map(\.key) == [key])
        #expect(defects.first?.description.hasPrefix("\(directory.path)/\(file):\(line): \(key): ") == true)
    }

    @Test(
        "An unknown key is told with the known one that was probably meant",
        arguments: [
            ("phones.yaml", "digits: 6\nlifetmie: 5m\n", "2: unknown key 'lifetmie'; did you mean 'lifetime'?"),
            ("phones.yaml", "digit: 6\n", "1: unknown key 'digit'; did you mean 'digits'?"),
            (
                "webhooks.yaml", "private_addresses: true\n",
                "1: unknown key 'private_addresses'; known: attempt_timeout, streams_per_provider, events_held, "
                    + "events_per_poll, poll_wait, waiting_polls, verification_interval, inactivity_timeout"
            ),
            (
                "delivery.yaml", "senders:\n  - kind: sns\n    regoin: us-east-1\n",
                "3: unknown key 'regoin'; did you mean 'region'?"
            ),
        ])
    func unknownKeys(file: String, text: String, sentence: String) throws {
        let directory = try Self.directory([file: text])
        let defects = PolicyFiles.read(directory: directory.path, required: true).defects
        #expect(defects.map(\.description) == ["\(directory.path)/\(file):\(sentence)"])
    }

    @Test("Senders are taken in their order, each with its own keys")
    func senders() throws {
        let directory = try Self.directory([
            "delivery.yaml": """
            senders:
              - kind: twilio
                account: AC1
                from: "+15005550006"
              - kind: file
            """
        ])
        let policy = try PolicyFiles.load(directory: directory.path, required: true)
        #expect(
            policy.delivery.senders == [
                SenderEntry(kind: "twilio", values: ["account": "AC1", "from": "+15005550006"]),
                SenderEntry(kind: "file"),
            ])
        let table = try String(contentsOfFile: Self.shipped + "/README.md", encoding: .utf8)
        for kind in SenderKind.all {
            for key in kind.keys { #expect(table.contains("| `\(kind.name)` | `\(key.name)` |"), "\(key.name)") }
        }
    }

    @Test("Every other fault of a file is told beside a name that stands twice, those of the second value too")
    func afterDuplicate() throws {
        let directory = try Self.directory([
            "phones.yaml": """
            # a comment
            digits: 6
            lifetime: 1
            digits: 3
            countries:
            - US
            "lifetime" : 5m
            colour: red
            'digits': 7
            """
        ])
        let defects = PolicyFiles.read(directory: directory.path, required: true).defects
        let told = defects.map { "\($0.line ?? 0) \($0.key ?? "")" }.sorted()
        #expect(told == ["2 digits", "3 lifetime", "3 lifetime", "4 digits", "8 colour"])
        #expect(defects.contains { $0.expected.contains("again on line 4) (again on line 9)") })
        #expect(!defects.contains { $0.description.contains("\u{E000}") })
        let nested = try Self.directory(["phones.yaml": "digits: {a: 1, a: 2}\nlifetime: 1\n"])
        #expect(!PolicyFiles.read(directory: nested.path, required: true).defects.isEmpty)
    }

    @Test("What is no mapping, no YAML or no UTF-8 is told with its file")
    func unreadable() throws {
        for text in ["- digits\n", "digits: [\n", "a: b: c\n", "word\n"] {
            let directory = try Self.directory(["phones.yaml": text])
            let defects = PolicyFiles.read(directory: directory.path, required: true).defects
            #expect(defects.map(\.file) == [directory.path + "/phones.yaml"], "\(text)")
        }
    }

    @Test("All faults of all files are told at once, a foreign file among them")
    func everyFault() throws {
        let directory = try Self.directory([
            "phones.yaml": "digits: 3\nlifetime: 1\n", "phone.yaml": "digits: 6\n", "bans.yml": "", "notes.txt": "",
            "cards.yaml": "minimum_age: old\n",
        ])
        let defects = PolicyFiles.read(directory: directory.path, required: true).defects
        #expect(defects.count == 5)
        #expect(throws: CommandFailure.self) { try PolicyFiles.load(directory: directory.path, required: true) }
    }
}

/// A directory that goes when the last reference to it does.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "countersign-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path(percentEncoded: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    @Test("A limit for an address has one for each network around it, of /56 and of /48")
    func networks() {
        var count = 0
        for area in PolicyArea.all {
            let keys = Set(area.fields.map(\.key))
            for key in keys where key.hasSuffix("per_address") {
                count += 1
                for wider in ["per_56", "per_48"] {
                    #expect(keys.contains(key.replacing("per_address", with: wider)), "\(area.name): \(key)")
                }
            }
        }
        #expect(count == 3)
    }
}
