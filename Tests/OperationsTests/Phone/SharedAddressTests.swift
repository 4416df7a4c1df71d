import Database
import Domain
import Fixtures
import Foundation
import Operations
import Repositories
import Testing

@Suite("Many people behind one address")
struct SharedAddressTests {
    private static let limited = Refusal(.rateLimited, "")
    private static let address = "203.0.113.7"

    private static func number(_ index: Int) -> String { "+1415\(200 + index)2671" }

    @Test("Twenty-five of them prove their numbers in one hour, and a resend gives its place back too")
    func people() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            for index in 0..<25 {
                let person = try await bench.person("person \(index)")
                let started = try await bench.begin(Self.number(index), person, address: Self.address)
                if index == 0 {
                    fixture.clock.advance(30)
                    _ = try await bench.context.resendPhoneCode(
                        started.id.description, for: person.session, address: Self.address)
                }
                let code = bench.code(started.id, Self.number(index), person)
                #expect(try await bench.verdict(started.id, code, person) == .right)
            }
            let places = try await fixture.store.read {
                try $0.query("SELECT places FROM phone_sends").map { try $0.textOrNull(0) }
            }
            #expect(places.count == 26 && places.allSatisfy { $0?.contains("203.0.113") == false })
        }
    }

    @Test("Ten without a right code use the address up, and one right code makes room for one more")
    func oneRightCode() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try PhoneBench(fixture)
            let first = try await bench.person("first")
            let started = try await bench.begin(Self.number(0), first, address: Self.address)
            for index in 1..<10 {
                try await bench.begin(
                    Self.number(index), try await bench.person("person \(index)"), address: Self.address)
            }
            let late = try await bench.person("late")
            await #expect(throws: Self.limited) {
                try await bench.begin(Self.number(20), late, address: Self.address)
            }
            let code = bench.code(started.id, Self.number(0), first)
            #expect(try await bench.verdict(started.id, bench.wrong(code), first) == .wrong)
            await #expect(throws: Self.limited) {
                try await bench.begin(Self.number(20), late, address: Self.address)
            }
            #expect(try await bench.verdict(started.id, code, first) == .right)
            // The right code submitted again gives nothing back.
            _ = try await bench.verdict(started.id, code, first)
            try await bench.begin(Self.number(20), late, address: Self.address)
            await #expect(throws: Self.limited) {
                try await bench.begin(Self.number(21), try await bench.person("later"), address: Self.address)
            }
        }
    }

    @Test("Every limit of an address gets its place back by what it says", arguments: SenderAct.allCases)
    func acts(act: SenderAct) async throws {
        var policy = Policy()
        policy.phones.sendsPerHourPerSender.perAddress = 1
        try await ServiceFixture.run(policy) { fixture in
            let bench = try PhoneBench(fixture)
            var index = 0
            func prove(_ person: PhoneBench.Person, at address: String) async throws {
                index += 1
                let started = try await bench.begin(Self.number(index), person, address: address)
                let code = bench.code(started.id, Self.number(index), person)
                #expect(try await bench.verdict(started.id, code, person) == .right)
            }
            switch act.release {
            case .rightCode:
                // Each newcomer's number makes the account a settled one, whose texts have their own places.
                for name in ["ann", "bob", "eve"] {
                    let person = try await bench.person(name)
                    try await prove(person, at: Self.address)
                    try await prove(person, at: Self.address)
                }
            case .admission:
                // The gate is open: more people than the hour's thirty places of the address.
                for turn in 0..<33 {
                    let device = try await fixture.certify(try fixture.request(address: Self.address))
                    let person = try await bench.person(
                        "person \(turn)", on: try await fixture.connect(device.certificate.thumbprint))
                    try await prove(person, at: "198.51.100.\(turn)")
                }
            }
        }
    }

    @Test("A captcha before the authority gives the place of a certificate back, and a failed one does not")
    func gate() async throws {
        var policy = Policy()
        policy.certification.gate = .captcha
        policy.certification.perHourPerSender.perAddress = 2
        try await ServiceFixture.run(policy) { fixture in
            for _ in 0..<5 {
                _ = try await fixture.certify(try fixture.request(captcha: "solved", address: Self.address))
            }
            for _ in 0..<2 {
                await #expect(throws: Refusal(.invalidCSR, "", reason: .gate)) {
                    try await fixture.certify(try fixture.request(captcha: "wrong", address: Self.address))
                }
            }
            await #expect(throws: Self.limited) {
                try await fixture.certify(try fixture.request(captcha: "solved", address: Self.address))
            }
        }
    }
}
