import Database
import Fixtures
import Foundation
import Glibc
import Testing

/// A PostgreSQL server that speaks TLS on a loopback port, under a certificate for `localhost` of an authority of its own,
/// and takes no writes from whoever does not insist. It ends with its pipe, as ``PostgreSQLCluster`` does.
private final class SecureServer: Sendable {
    /// Why there is no server.
    struct Absent: Error {
        let description: String
    }

    let directory: URL
    let port: UInt16
    private let keeper: Process
    private let pipe: Pipe

    /// `$0` is the directory, `$1` the port.
    private static let script = """
        cd "$0" || exit 1
        {
            initdb -D data -U countersign -A trust -E UTF8 --locale=C --no-sync
            for name in authority other; do
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$name" \
                    -keyout $name.key -out $name.pem
            done
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout server.key \
                -out server.csr
            echo subjectAltName=DNS:localhost >names
            openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -days 2 -extfile names \
                -out server.pem
            chmod 600 server.key
        } >log 2>&1 || exit 1
        postgres -D data -k "$0" -p "$1" -c listen_addresses=127.0.0.1 -c ssl=on -c ssl_cert_file="$0/server.pem" \
            -c ssl_key_file="$0/server.key" -c default_transaction_read_only=on -c fsync=off >>log 2>&1 &
        server=$!
        cat >/dev/null
        kill -INT $server
        wait $server
        cd / && rm -rf "$0"
        """

    init() throws {
        port = try FreePort.next()
        directory = URL(fileURLWithPath: "/tmp/countersign-tls-\(UUID().uuidString.prefix(8))", isDirectory: true)
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        var arguments = ["/bin/sh", "-c", Self.script, directory.path, "\(port)"]
        if getuid() == 0 {
            try FileManager.default.setAttributes([.ownerAccountName: "postgres"], ofItemAtPath: directory.path)
            arguments = ["/usr/sbin/runuser", "-u", "postgres", "--"] + arguments
        }
        // The server of the Python environment is built without TLS.
        let programs = try PostgreSQLCluster.installedPrograms()
        (keeper, pipe) = try Command.starting {
            let (keeper, pipe) = (Process(), Pipe())
            keeper.executableURL = URL(fileURLWithPath: arguments[0])
            keeper.arguments = Array(arguments.dropFirst())
            keeper.environment = ["PATH": "\(programs):/usr/bin:/bin", "LC_ALL": "C"]
            keeper.standardInput = pipe
            keeper.standardOutput = FileHandle.nullDevice
            keeper.standardError = FileHandle.nullDevice
            try keeper.run()
            return (keeper, pipe)
        }
        let lock = directory.appendingPathComponent("data/postmaster.pid").path
        for _ in 0..<2400 {
            // As root one may look; otherwise the directory is one's own.
            if let text = try? String(contentsOfFile: lock, encoding: .utf8), text.contains("ready") { return }
            Thread.sleep(forTimeInterval: 0.05)
        }
        let log = try? String(contentsOf: directory.appendingPathComponent("log"), encoding: .utf8)
        throw Absent(description: "no server with TLS: \(log ?? "it wrote nothing")")
    }

    deinit {
        try? pipe.fileHandleForWriting.close()
    }
}

/// Servers that are reached over a network.
@Suite(.serialized) struct RemoteServerTests {
    @Test("Over TLS only the server that the authority named is talked to, and no password is sent to another")
    func verified() async throws {
        let server = try await onOwnThread { try SecureServer() }
        func open(_ host: String, _ authority: String, _ mode: String = "verify-full") throws -> any Database {
            let file = server.directory.appendingPathComponent(authority).path
            return try StoreURL.parse(
                "postgresql://countersign:secret@\(host):\(server.port)/postgres?hostaddr=127.0.0.1&sslmode=\(mode)"
                    + "&sslrootcert=\(file)&target_session_attrs=any"
            ).open { Date() }
        }
        let right = try open("localhost", "authority.pem")
        let isEncrypted = try await right.read {
            try $0.first("SELECT CAST(ssl AS INTEGER) FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        }
        #expect(isEncrypted == Row([1]))
        try await right.close()
        // Another authority, another name, no authority at all.
        for (host, authority) in [
            ("localhost", "other.pem"), ("countersign.example", "authority.pem"), ("127.0.0.1", "authority.pem"),
            ("localhost", "nowhere.pem"),
        ] {
            let wrong = try open(host, authority)
            let error = await #expect(throws: StoreError.unavailable(reason: "")) { try await wrong.check() }
            #expect(error.map { !"\($0)".contains("secret") } ?? false)
            try await wrong.close()
        }
        // The name is what verify-full adds.
        let named = try open("countersign.example", "authority.pem", "verify-ca")
        try await named.check()
        try await named.close()
    }

    @Test("Of several hosts the one that takes writes is taken, wherever it stands")
    func takesWrites() async throws {
        let server = try await onOwnThread { try SecureServer() }
        let socket = try #require(try PostgreSQLCluster.shared.connection.dropFirst().first)
        for hosts in [("127.0.0.1,\(socket)", "\(server.port),5432"), ("\(socket),127.0.0.1", "5432,\(server.port)")] {
            let store = try StoreURL.parse(
                "postgresql:///postgres?host=\(hosts.0)&port=\(hosts.1)&user=countersign"
            ).open { Date() }
            let port = try await store.read { try $0.first("SELECT current_setting('port')")?.text(0) }
            #expect(port == "5432")
            try await store.close()
        }
    }
}
