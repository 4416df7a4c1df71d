import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import SampleBackend

/// A picture that was fetched once, when a forum was created. The forum serves it itself, so that readers' devices do
/// not call servers that other users named.
struct ForumImage: Sendable {
    let url: String
    let data: Data
    /// Derived from its first bytes. The media type that its server sends is ignored.
    let type: String

    private static let maximumSize = 256 * 1024

    private init?(url: String, data: Data) {
        guard let type = Self.type(of: data) else { return nil }
        (self.url, self.data, self.type) = (url, data, type)
    }

    private static func type(of data: Data) -> String? {
        func starts(with bytes: [UInt8]) -> Bool { data.starts(with: bytes) }
        if starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if starts(with: Array("GIF87a".utf8)) || starts(with: Array("GIF89a".utf8)) { return "image/gif" }
        if starts(with: Array("RIFF".utf8)), data.dropFirst(8).starts(with: Array("WEBP".utf8)) { return "image/webp" }
        return nil
    }

    /// Fetches pictures from untrusted URLs. Such a request must not reach private addresses. The name is resolved
    /// once, every address is checked, and the connection uses a checked address.
    struct Source: Sendable {
        enum Reach: Sendable { case publicAddresses, thisMachine }

        let reach: Reach
        private let fetches = Limiter(120, per: 60)

        init(reach: Reach) { self.reach = reach }

        /// - Parameter url: `nil` or empty for no picture.
        /// - Throws: `400` if it is not a picture of at most 256 KiB, or cannot be fetched. The response does not give
        ///   the reason, so that it reveals nothing about the network.
        func fetch(_ url: String?) async throws -> ForumImage? {
            guard let url, !url.isEmpty else { return nil }
            try await fetches.count("all")
            guard let target = try? await target(of: url), let data = await get(url, at: target),
                let image = ForumImage(url: url, data: data)
            else {
                throw HTTPError(
                    .badRequest, message: "imageURL must be a PNG, JPEG, GIF or WebP of at most 256 KiB")
            }
            return image
        }

        /// The host of a URL, and the address to connect to.
        private func target(of url: String) async throws -> (host: String, address: String)? {
            guard url.utf8.count <= 2048, let parts = URLComponents(string: url), let host = parts.host,
                !host.isEmpty, parts.user == nil, parts.password == nil,
                parts.scheme == "https" || parts.scheme == "http"
            else { return nil }
            if reach == .publicAddresses {
                guard parts.port == nil || parts.port == (parts.scheme == "https" ? 443 : 80) else { return nil }
            }
            let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            let found = try await NetworkAddress.resolve(name)
            guard let first = found.first, found.allSatisfy({ reach == .thisMachine ? $0.isLoopback : $0.isPublic })
            else { return nil }
            return (name, first.text)
        }

        private func get(_ url: String, at target: (host: String, address: String)) async -> Data? {
            var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
            configuration.dnsOverride = [target.host: target.address]
            configuration.timeout = .init(connect: .seconds(3), read: .seconds(3))
            return try? await HTTPClient.withHTTPClient(configuration: configuration) { http in
                var request = HTTPClientRequest(url: url)
                request.headers.add(name: "Accept", value: "image/*")
                let answer = try await http.execute(request, timeout: .seconds(5))
                guard answer.status == .ok else { return nil }
                return Data(try await answer.body.collect(upTo: ForumImage.maximumSize).readableBytesView)
            }
        }
    }
}
