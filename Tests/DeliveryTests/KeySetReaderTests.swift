import Domain
import Encoding
import Fixtures
import Foundation
import Testing

@testable import Delivery

@Suite("The key set of an issuer")
struct KeySetReaderTests {
    private func read(
        _ path: String, host: String = "127.0.0.1", allowingLoopback: Bool = true, timeout: TimeInterval = 30
    ) async throws -> KeySetReader.Reading {
        let station = try await Stations.issuer.value
        let reader = KeySetReader(DeliveryPolicy(), allowingLoopback: allowingLoopback, timeout: timeout)
        return await reader(station.url(host: host) + path)
    }

    @Test("is read where the discovery document says, with what it says of its age")
    func good() async throws {
        guard case .read(let keySet, let cacheControl) = try await read("/good") else {
            Issue.record("it was not read")
            return
        }
        #expect(String(decoding: keySet, as: UTF8.self).contains("Ed25519"))
        #expect(cacheControl == "public, max-age=1200")
        let seen = try await Stations.issuer.value.seen().filter { $0.contains("/good/") }
        #expect(seen.contains { $0.contains("/good/.well-known/openid-configuration") })
        #expect(seen.allSatisfy { $0.contains(#""accept":"application/json""#) && $0.contains("countersign") })
        #expect(seen.allSatisfy { $0.contains(#""coding":"identity""#) })
    }

    @Test(
        "is not read from a discovery document that is another's, leads elsewhere, or is none",
        arguments: [
            ("/mute", "the discovery document has no issuer"),
            ("/keyless", "the discovery document has no jwks_uri"),
            ("/private", "the URL of the key set is not an https URL of a public host"),
            ("/metadata", "the URL of the key set is not an https URL of a public host"),
            ("/clear", "the URL of the key set is not an https URL of a public host"),
            ("/file", "the URL of the key set is not an https URL of a public host"),
            ("/inside", "the URL of the key set is not an https URL of a public host"),
            ("/redirect", "the discovery document: HTTP 302"), ("/500", "the discovery document: HTTP 500"),
            ("/404", "the discovery document: HTTP 404"), ("/204", "the discovery document: HTTP 204"),
            ("/large", "the discovery document is longer than 524288 bytes"),
            ("/twice", "the discovery document is not JSON"), ("/html", "the discovery document is not JSON"),
            ("/keys-redirect", "the key set: HTTP 307"),
            ("/keys-gzip", "the key set has a Content-Encoding, which was not requested"),
            ("/keys-404", "the key set: HTTP 404"),
            ("/keys-large", "the key set is longer than 524288 bytes"),
        ])
    func refused(path: String, reason: String) async throws {
        #expect(try await read(path) == .failed(reason: reason))
    }

    @Test(
        "is not read from the document of another issuer, which is named so that it can be typed",
        arguments: [("/other", "/good"), ("/slash", "/slash/"), ("/good/", "/good")])
    func others(path: String, named: String) async throws {
        let issuer = try await Stations.issuer.value.url(host: "127.0.0.1") + named
        #expect(
            try await read(path)
                == .failed(
                    reason: "the discovery document is of the issuer \(issuer): register that one if it is meant"))
        guard case .failed(let reason) = try await read("/tenants") else {
            Issue.record("it was read")
            return
        }
        #expect(reason.contains("{tenantid}") && reason.contains("register the issuer of your tenant"), "\(reason)")
    }

    @Test("may be large, and have in its documents what nobody reads", arguments: ["/keys-long", "/scopes"])
    func large(path: String) async throws {
        guard case .read = try await read(path) else {
            Issue.record("it was not read")
            return
        }
    }

    @Test(
        "is not waited for beyond one deadline, however slowly it comes", arguments: ["/hang", "/drip", "/keys-drip"])
    func late(path: String) async throws {
        guard case .failed(let reason) = try await read(path, timeout: 1) else {
            Issue.record("\(path) was read")
            return
        }
        #expect(reason.contains("in time"), "\(reason)")
    }

    @Test("is asked of no address that is not public, named or not, and then there is no request")
    func privateAddresses() async throws {
        #expect(
            try await read("/never", allowingLoopback: false)
                == .failed(reason: "the URL of the discovery document is not an https URL of a public host"))
        let station = try await Stations.issuer.value
        let named = KeySetReader(DeliveryPolicy(), allowingLoopback: true, permits: { _ in false })
        #expect(
            await named(station.url(host: "localhost") + "/never")
                == .failed(reason: "the host of the discovery document has an address that is not public"))
        #expect(try await !station.seen().contains { $0.contains("/never") })
    }
}
