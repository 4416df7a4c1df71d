import Database
import Fixtures
import Foundation
import NIOCore
import Operations
import Repositories
import Testing

@testable import API

@Suite("The revocation list as it goes out")
struct RevocationListBuffersTests {
    /// Where its bytes lie.
    private static func place(_ buffer: ByteBuffer) -> UnsafeRawPointer? {
        buffer.withUnsafeReadableBytes { $0.baseAddress }
    }

    @Test("is one memory for all who are sent it, in both forms, until there is another list")
    func shared() async throws {
        let time = Date(timeIntervalSince1970: 1_800_000_000)
        let clock: @Sendable () -> Date = { time }
        try await withStore(migrations: Schema.migrations, clock: clock) { store in
            let authority = try TestAuthority().authority
            let publish = PublishRevocationList(
                store: store, authority: authority, environment: Environment(now: { time }))
            let buffers = RevocationListBuffers()
            func both(_ publish: PublishRevocationList) async throws -> (der: ByteBuffer, pem: ByteBuffer) {
                let list = try await publish.document()
                return (buffers.der(of: list), buffers.pem(of: list))
            }
            let first = try await both(publish)
            for _ in 0..<100 {
                let next = try await both(publish)
                #expect(Self.place(next.der) == Self.place(first.der))
                #expect(Self.place(next.pem) == Self.place(first.pem))
            }
            #expect(Array(buffer: first.der) == (try await publish()))
            let pem = String(buffer: first.pem)
            #expect(pem.hasPrefix("-----BEGIN X509 CRL-----\n") && pem.hasSuffix("\n-----END X509 CRL-----\n"))
            let body = pem.split(separator: "\n").dropFirst().dropLast().joined()
            #expect(Data(base64Encoded: body).map(Array.init) == Array(buffer: first.der))
            let other = PublishRevocationList(
                store: store, authority: authority, environment: Environment(now: { time + 1801 })
            )
            let next = try await both(other)
            #expect(Array(buffer: next.der) != Array(buffer: first.der))
        }
    }
}
