import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import SampleBackend

/// Where complete recordings are kept. Storing a file again under its name changes nothing.
protocol RecordingArchive: Sendable {
    /// - Parameters:
    ///   - file: a local file, which may be moved.
    ///   - sha256: its digest in hexadecimal digits.
    func store(_ file: URL, as name: String, sha256: String, mediaType: String) async throws
}

/// An archive in a folder of this machine.
struct FolderArchive: RecordingArchive {
    let folder: URL

    func store(_ file: URL, as name: String, sha256: String, mediaType: String) async throws {
        let target = folder.appending(path: name)
        try await NIOThreadPool.singleton.runIfActive {
            let files = FileManager.default
            try files.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            // The file was moved before a crash if only the target exists.
            guard files.fileExists(atPath: file.path) || !files.fileExists(atPath: target.path) else { return }
            if files.fileExists(atPath: target.path) { try files.removeItem(at: target) }
            try files.moveItem(at: file, to: target)
        }
    }
}

/// An archive in a bucket of Amazon S3, or of a store with its interface.
struct BucketArchive: RecordingArchive {
    /// The URL of the bucket with the prefix of names, without a slash at the end.
    private let url: String
    private let signature: BucketSignature

    /// - Parameters:
    ///   - place: `BUCKET` or `BUCKET/PREFIX`.
    ///   - endpoint: the URL of another store; empty for Amazon's.
    init(place: String, region: String, endpoint: String, environment: [String: String]) throws {
        guard let parts = place.wholeMatch(of: /([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9._-]+)*)\/?/),
            region.wholeMatch(of: /[a-z0-9-]{1,32}/) != nil
        else {
            throw Options.Malformed(
                reason: "--recordings has the form s3://BUCKET/PREFIX, and --s3-region the form us-east-1")
        }
        let amazon = "https://\(parts.1).s3.\(region).amazonaws.com"
        let base = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
        url = (base.isEmpty ? amazon : "\(base)/\(parts.1)") + String(parts.2)
        guard let signature = BucketSignature(region: region, environment: environment) else {
            throw Options.Failure(
                reason: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are missing. Set them in the environment.")
        }
        self.signature = signature
    }

    func store(_ file: URL, as name: String, sha256: String, mediaType: String) async throws {
        let length = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        // The last reference closes it. A cancelled upload returns while a thread still reads, which would end the process
        // if the file were closed then.
        let handle = try FileHandle(forReadingFrom: file)
        let chunks = AsyncThrowingStream<ByteBuffer, any Error>(unfolding: {
            try await NIOThreadPool.singleton.runIfActive { () -> ByteBuffer? in
                guard let data = try handle.read(upToCount: 256 << 10), !data.isEmpty else { return nil }
                return ByteBuffer(bytes: data)
            }
        })
        var request = HTTPClientRequest(url: "\(url)/\(name)")
        request.method = .PUT
        request.headers.add(name: "Content-Type", value: mediaType)
        guard let target = URLComponents(string: request.url), let host = target.host else { throw URLError(.badURL) }
        let authority = target.port.map { "\(host):\($0)" } ?? host
        for field in signature.headers("PUT", target.percentEncodedPath, on: authority, sha256: sha256, at: Date()) {
            request.headers.add(name: field.name, value: field.value)
        }
        request.body = .stream(chunks, length: .known(Int64(length)))
        let sent = request
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout = .init(connect: .seconds(5), read: .seconds(30))
        // A bucket that is away is tried again by the keeper. A reader with the last part does not wait for it.
        configuration.connectionPool.retryConnectionEstablishment = false
        let (status, answer) = try await HTTPClient.withHTTPClient(configuration: configuration) { http in
            let answer = try await http.execute(sent, timeout: .seconds(600))
            return (answer.status, try await answer.body.collect(upTo: 64 << 10))
        }
        guard status == .ok else {
            let code = String(buffer: answer).firstMatch(of: /<Code>([A-Za-z0-9]+)<\/Code>/)?.1 ?? ""
            throw Options.Failure(reason: "The bucket answered \(status.code) \(code)")
        }
    }
}
