import CountersignClient
import Fixtures
import Foundation
import Testing

/// A server that goes away, or is another one, or another time than the device's.
@Suite("A service in trouble", .serialized)
struct OutageTests {
    @Test("killed in the middle of calls and started again: typed errors meanwhile, then the same session")
    func killed() async throws {
        let service = try await LiveService()
        let app = try App(service.service())
        try await app.client.certify()
        let session = try await app.client.signIn(service.source("alice"))
        let wrong = Sentences()
        let (answered, missed) = (Counter(), Counter())
        let isOver = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    while !isOver.isSet {
                        do throws(Refusal) {
                            try await app.client.act()
                            answered.add()
                        } catch {
                            switch error {
                            case .unreachable, .unanswered: missed.add()
                            case .service(let problem) where problem.code == .unavailable: missed.add()
                            default: wrong.add("\(error)")
                            }
                        }
                    }
                }
            }
            for _ in 0..<3 {
                let before = answered.count
                for _ in 0..<2400 where answered.count < before + 50 { try await Task.sleep(for: .milliseconds(50)) }
                let lost = missed.count
                service.running.kill()
                for _ in 0..<2400 where missed.count == lost { try await Task.sleep(for: .milliseconds(50)) }
                try service.running.start()
            }
            let before = answered.count
            for _ in 0..<2400 where answered.count < before + 50 { try await Task.sleep(for: .milliseconds(50)) }
            isOver.set()
            try await group.waitForAll()
        }
        #expect(wrong.all.isEmpty, "\(wrong.all.prefix(3))")
        #expect(missed.count > 0)
        try await app.client.act()
        #expect(try await app.client.session?.id == session.id && app.count("/sessions", status: 201) == 1)
    }

    @Test("away at the first start: nothing was sent, and the same request is certified later")
    func away() async throws {
        let service = try await LiveService()
        let app = try App(service.service())
        service.running.kill()
        do throws(Refusal) {
            try await app.client.certify()
            Issue.record("certified by nobody")
        } catch {
            guard case .unreachable = error else { throw error }
        }
        try service.running.start()
        try await app.client.certify()
        #expect(try FileManager.default.contentsOfDirectory(atPath: app.directory.file("keys")).count == 1)
    }

    @Test("a server with another key, or another authority, gets no request")
    func untrusted() async throws {
        let service = try await LiveService()
        let stranger = try #require(SPKIPin(Data(repeating: 7, count: 32).base64EncodedString()))
        for wrong in [service.service(pins: [stranger]), service.service(roots: .system)] {
            let app = try App(wrong)
            do throws(Refusal) {
                try await app.client.certify()
                Issue.record("a stranger was trusted")
            } catch {
                guard case .untrusted = error else { throw error }
            }
        }
        // The next key's pin beside the present one, and no pin at all.
        for right in [service.service(pins: [stranger] + service.pins), service.service(pins: [])] {
            try await App(right).client.certify()
        }
        // A pin that does not fit any more is found on the client listener, too.
        let app = try App(service.service())
        try await app.client.certify()
        let later = try App(service.service(pins: [stranger]), directory: app.directory)
        do throws(SignInFailure) {
            try await later.client.signIn(service.source("alice"))
            Issue.record("a stranger was trusted")
        } catch {
            guard case .refused(.untrusted) = error else { throw error }
        }
    }

    @Test("a clock ten minutes off is named, the device's and the provider's", arguments: [600.0, -600.0])
    func clock(ahead: TimeInterval) async throws {
        let service = try await LiveService()
        let app = try App(service.service(), ahead: ahead)
        try await app.client.certify()
        try await app.client.signIn(service.source("alice"))
        try await app.client.act()
        do throws(Refusal) {
            _ = try await app.client.accessToken(for: service.provider)
            Issue.record("a proof of another time was taken")
        } catch {
            guard case .clock(let off) = error else { throw error }
            #expect((ahead - 30...ahead + 30).contains(Double(off.components.seconds)))
            #expect(error.description.contains(ahead > 0 ? "fast" : "slow"))
        }
        let other = try App(service.service())
        try await other.client.certify()
        do throws(SignInFailure) {
            try await other.client.signIn { nonce in
                try service.identityToken("alice", nonce.value, at: Date().addingTimeInterval(ahead))
            }
            Issue.record("a token of another time was taken")
        } catch {
            guard case .providerClock(let off) = error else { throw error }
            #expect((ahead - 30...ahead + 30).contains(Double(off.components.seconds)))
        }
    }

    @Test(
        "a certificate that expired while the device slept is refused, also by its clock of an hour ago: certify again")
    func expired() async throws {
        let service = try await LiveService(policies: ["certification.yaml": "validity: 10s\n"])
        let place = try ScratchDirectory()
        let before = try await App(service.service(), directory: place).client.certify()
        while Date() < before.notAfter.addingTimeInterval(1) { try await Task.sleep(for: .milliseconds(100)) }
        let app = try App(service.service(), directory: place, ahead: -3600)
        do throws(SignInFailure) {
            try await app.client.signIn(service.source("alice"))
            Issue.record("an expired certificate was taken")
        } catch {
            guard case .refused(.uncertified) = error else { throw error }
        }
        try await app.client.certify()
        try await app.client.signIn(service.source("alice"))
        #expect(try await app.client.device?.id != before.id)
    }

    @Test("a banned user learns reason and end, at the next call and at the next sign-in")
    func banned() async throws {
        let service = try await LiveService()
        let app = try App(service.service())
        try await app.client.certify()
        try await app.client.signIn(service.source("alice"))
        try await service.admin("ban", "add", "--user", "devices/alice", "--reason", "spam", "--for", "1h", "--yes")
        let refused = try await app.refusal()
        #expect(refused.problem?.code == .userBanned && refused.problem?.reason == "spam", "\(refused)")
        do throws(SignInFailure) {
            try await app.client.signIn(service.source("alice"))
            Issue.record("a banned user was signed in")
        } catch {
            guard case .refused(.service(let problem)) = error else { throw error }
            #expect(problem.code == .userBanned && problem.reason == "spam" && problem.until != nil)
            #expect(problem.exportToken != nil)
        }
        #expect(try await app.client.session == nil)
    }
}
