import Crypto
import Domain
import Fixtures
import Foundation
import Operations
import PhoneNumbers
import Testing

@Suite("Banning devices")
struct DeviceBanTests {
    @Test("refuses open and new connections, ends everybody's sessions there, and ends with the ban")
    func connections() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let connection = try await fixture.connectNewDevice()
            let token = try #require(try await fixture.opened("alice", on: connection).token).text.reveal()
            let device = try await bench.phones.person("bob", on: connection).session.deviceID
            let done = try await bench.ban(.device(device), for: 3600)
            #expect(done.impact.users.count == 2 && done.impact.sessions.count == 2)
            await #expect(throws: Refusal(.certificateRevoked, "")) {
                try await fixture.context.authenticate(connection)
            }
            #expect(!connection.isValid(at: fixture.clock.now))
            await #expect(throws: Refusal(.certificateRevoked, "")) {
                try await fixture.connect(connection.thumbprint)
            }
            await #expect(throws: Refusal(.certificateRevoked, "")) {
                try await fixture.opened("alice", on: connection)
            }
            // The users themselves are not banned.
            _ = try await fixture.opened("alice", on: try await fixture.connectNewDevice())
            fixture.clock.advance(3600)
            let again = try await fixture.connect(connection.thumbprint)
            await #expect(throws: Refusal(.sessionDestroyed, "")) {
                try await fixture.context.checkSession(token, on: again)
            }
            _ = try await fixture.opened("alice", on: again)
        }
    }

    @Test("ends at once when it is lifted")
    func lifted() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let ban = try await bench.ban(.device(alice.session.deviceID)).ban
            await #expect(throws: Refusal(.certificateRevoked, "")) {
                try await fixture.context.authenticate(alice.connection)
            }
            #expect(try await bench.admin.readDevice(alice.session.deviceID).bans.map(\.id) == [ban.id])
            _ = try await bench.admin.liftBan(ban.id, note: "found again")
            #expect(try await bench.admin.readDevice(alice.session.deviceID).bans.isEmpty)
            try await fixture.watch.poll()
            try await fixture.context.authenticate(alice.connection)
        }
    }

    @Test("goes with a user's ban only where that is said")
    func withDevices() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let alice = try await bench.phones.person("alice")
            let ban = try await bench.ban(.user("test/alice")).ban
            try await fixture.context.authenticate(alice.connection)
            _ = try await bench.admin.liftBan(ban.id, note: "more is needed")
            try await bench.ban(.user("test/alice"), withDevices: true)
            await #expect(throws: Refusal(.certificateRevoked, "")) {
                try await fixture.context.authenticate(alice.connection)
            }
            let number = try PhoneNumber(fromCaller: "+14155552671")
            for target in [.device(alice.session.deviceID), .phone(number), try .document(reading: "VA:T64225789")]
                as [BanTarget]
            {
                #expect(throws: Refusal(.malformedRequest, "")) { try bench.order(target, withDevices: true) }
            }
        }
    }

    @Test("refuses its name and its keys when they are to be certified anew, as revoked ones")
    func certification() async throws {
        try await ServiceFixture.run { fixture in
            let bench = try BanBench(fixture)
            let key = P256.Signing.PrivateKey()
            let presence = P256.Signing.PrivateKey().publicKey.pemRepresentation
            func request(_ key: P256.Signing.PrivateKey, _ name: String, _ presence: String?) throws
                -> Service.DeviceRequest
            {
                Service.DeviceRequest(
                    csr: try TestAuthority.certificationRequest(commonName: name, key: key), presenceKey: presence,
                    enrolmentToken: nil, captcha: nil, address: "192.0.2.1")
            }
            let device = try await fixture.certify(try request(key, UUID().uuidString, presence)).certificate.deviceID
            let ban = try await bench.ban(.device(device)).ban
            let revoked = Refusal(.invalidCSR, "", reason: .keyRevoked)
            let new = P256.Signing.PrivateKey()
            await #expect(throws: revoked) { try await fixture.certify(try request(key, UUID().uuidString, nil)) }
            await #expect(throws: revoked) { try await fixture.certify(try request(new, device.description, nil)) }
            await #expect(throws: revoked) {
                try await fixture.certify(try request(new, UUID().uuidString, presence))
            }
            _ = try await bench.admin.liftBan(ban.id, note: "lifted")
            await #expect(throws: Refusal(.invalidCSR, "", reason: .keyInUse)) {
                try await fixture.certify(try request(key, UUID().uuidString, nil))
            }
            _ = try await fixture.certify(try request(new, device.description, presence))
            await #expect(throws: Refusal(.notFound, "")) { try await bench.ban(.device(DeviceID(UUID()))) }
        }
    }

    @Test("keeps a certificate that is due from being renewed by the device")
    func renewal() async throws {
        var policy = Policy()
        policy.certification.validity = 3000
        try await ServiceFixture.run(policy) { fixture in
            let bench = try BanBench(fixture)
            let connection = try await fixture.connectNewDevice()
            let device = try await fixture.opened("alice", on: connection).session.deviceID
            fixture.clock.advance(2500)
            // As in the moment before the change is read.
            _ = try await bench.ban(try bench.order(.device(device)), upTo: nil)
            await #expect(throws: Refusal(.certificateRevoked, "")) {
                try await fixture.context.renewCertificate(csr: nil, on: connection)
            }
        }
    }
}
