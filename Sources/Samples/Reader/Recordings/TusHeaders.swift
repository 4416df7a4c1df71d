import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import SampleBackend

extension HTTPField.Name {
    private static func tus(_ name: String) -> Self { Self(name) ?? .contentType }

    static let tusResumable = tus("Tus-Resumable"), tusVersion = tus("Tus-Version")
    static let tusExtension = tus("Tus-Extension"), tusMaximum = tus("Tus-Max-Size")
    static let tusAlgorithms = tus("Tus-Checksum-Algorithm"), uploadLength = tus("Upload-Length")
    static let uploadOffset = tus("Upload-Offset"), uploadMetadata = tus("Upload-Metadata")
    static let uploadChecksum = tus("Upload-Checksum"), uploadExpires = tus("Upload-Expires")
}

/// A date in the form of HTTP (RFC 9110 §5.6.7).
func httpDate(_ date: Date) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: date)
}

/// Requires and names the version of tus, in refusals too.
struct TusVersion: RouterMiddleware {
    static let supported = "1.0.0"

    func handle(
        _ request: Request, context: SampleContext, next: (Request, SampleContext) async throws -> Response
    ) async throws -> Response {
        do {
            // Browsers and monitors ask what is supported, and any client may read the state.
            let isTus = ![.options, .get].contains(request.method)
            guard !isTus || request.headers[.tusResumable] == Self.supported else {
                throw HTTPError(
                    .preconditionFailed, headers: [.tusVersion: Self.supported],
                    message: "Tus-Resumable must be \(Self.supported)")
            }
            var response = try await next(request, context)
            response.headers[.tusResumable] = Self.supported
            return response
        } catch var error as HTTPError {
            error.headers[.tusResumable] = Self.supported
            throw error
        }
    }
}

/// `Upload-Metadata`: pairs of a name and a base64 value, separated by commas.
struct UploadMetadata: Sendable {
    /// The article that the recording is of.
    let article: String
    /// The digest of the whole file in hexadecimal digits.
    let sha256: String?

    /// - Throws: `400` that names the pair.
    init(_ header: String) throws {
        var values: [String: Data] = [:]
        for pair in header.split(separator: ",") {
            let words = pair.split(separator: " ")
            guard let name = words.first, words.count <= 2, values[String(name)] == nil,
                let value = words.count == 1 ? Data() : Data(base64Encoded: String(words[1]))
            else { throw HTTPError(.badRequest, message: "Upload-Metadata is malformed") }
            values[String(name)] = value
        }
        guard let article = values["article"].flatMap({ UUID(uuidString: String(decoding: $0, as: UTF8.self)) }) else {
            throw HTTPError(.badRequest, message: "article in Upload-Metadata must be the id of an article in base64")
        }
        let digest = values["sha256"]
        guard digest == nil || digest?.count == 32 else {
            throw HTTPError(.badRequest, message: "sha256 in Upload-Metadata must be 32 bytes in base64")
        }
        (self.article, sha256) = (article.uuidString.lowercased(), digest?.hexadecimal)
    }
}

/// `Upload-Checksum`: the digest of one part, `sha256` or `sha1` and a base64 value. It detects errors of transport,
/// for which SHA-1 is enough, and tus requires it.
struct UploadChecksum: Sendable {
    private enum Digest: Sendable {
        case sha1(Insecure.SHA1)
        case sha256(SHA256)
    }

    private var digest: Digest
    private let wanted: Data

    /// - Throws: `400` for an unknown algorithm or a malformed value.
    init(_ header: String) throws {
        let words = header.split(separator: " ")
        guard words.count == 2, let wanted = Data(base64Encoded: String(words[1])) else {
            throw HTTPError(.badRequest, message: "Upload-Checksum must be an algorithm and a base64 value")
        }
        switch words[0] {
        case "sha1": digest = .sha1(Insecure.SHA1())
        case "sha256": digest = .sha256(SHA256())
        default: throw HTTPError(.badRequest, message: "the algorithm of Upload-Checksum must be sha1 or sha256")
        }
        self.wanted = wanted
    }

    mutating func update(_ bytes: ByteBuffer) {
        switch digest {
        case .sha1(var sum):
            sum.update(data: Data(bytes.readableBytesView))
            digest = .sha1(sum)
        case .sha256(var sum):
            sum.update(data: Data(bytes.readableBytesView))
            digest = .sha256(sum)
        }
    }

    var isMatched: Bool {
        switch digest {
        case .sha1(let sum): Data(sum.finalize()) == wanted
        case .sha256(let sum): Data(sum.finalize()) == wanted
        }
    }
}
