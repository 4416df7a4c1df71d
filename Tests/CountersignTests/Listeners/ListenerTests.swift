import Fixtures
import Foundation
import Testing

/// How the listeners are reached: through a proxy, over TLS, on an address that is taken.
@Suite("The listeners", .serialized)
struct ListenerTests {
    @Test("count the clients behind a proxy that speaks its protocol, and believe it from nobody else")
    func proxied() async throws {
        let service = try await RunningService(
            policies: [
                "requests.yaml": "handshake_timeout: 2s\nproxied_networks: [127.0.0.1/32]\n"
                    + "connections_per_56: 6\nconnections_per_48: 8\n",
                "certification.yaml": "per_hour_per_address: 2\n",
            ], arguments: ["--limits", "on"])
        try await expectScript("Listeners/proxied.py", service.clientArguments)
        let lines = try service.logLines("a handshake failed").filter { $0.contains("\"result\":\"proxy_header\"") }
        #expect(lines.count == 1, "seven in a row have one line: \(lines)")
    }

    @Test("answer what is no request by a problem document, and HEAD and OPTIONS everywhere, and fail for no client")
    func messages() async throws {
        let service = try await RunningService(
            policies: ["requests.yaml": "request_timeout: 2s\nmaximum_headers: 8192\n"])
        try await expectScript("HTTP/messages.py", service.clientArguments, seconds: 400)
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(log.contains("\"status\":\"499\""))
        #expect(!log.contains("\"level\":\"error\""))
    }

    @Test("serve the clients that people have, over HTTP/1.1 and HTTP/2, many requests at once")
    func clients() async throws {
        let service = try await RunningService()
        // The first run of a Go compiles its library.
        try await expectScript("Listeners/clients.py", service.clientArguments, seconds: 400)
        #expect(service.stop() == 0)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(!log.contains("\"level\":\"error\""))
    }

    @Test("give the same whole answers from memory as by the routes, over HTTP/1.1 and HTTP/2")
    func fastPath() async throws {
        let service = try await RunningService()
        try await expectScript("Listeners/fast_path.py", service.clientArguments)
    }

    @Test("for probes speaks TLS with the server's certificate where it is told to, off loopback too")
    func operations() async throws {
        // Off loopback texts do not go into a file.
        let service = try await RunningService(
            policies: ["delivery.yaml": "senders: [{kind: sns}]\n"],
            environment: ["AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"],
            arguments: [
                "--ops", "0.0.0.0:0", "--ops-tls", "--limits", "on", "--realm", "auth.example", "--base-url",
                "https://auth.example", "--client-url", "https://auth.example:8441",
            ])
        let port = try #require(service.opsURL.split(separator: ":").last)
        let probe = try await Command.run(
            "openssl",
            [
                "s_client", "-connect", "127.0.0.1:\(port)", "-CAfile", service.path("Keys/ca.pem").path,
                "-verify_return_error", "-verify_ip", "127.0.0.1", "-quiet", "-ign_eof",
            ], input: Data("GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8))
        #expect(probe.output.contains("200 OK") && probe.output.contains("\"ready\":true"), "\(probe)")
        let old = try await Command.run(
            "openssl", ["s_client", "-connect", "127.0.0.1:\(port)", "-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"])
        #expect(old.status != 0)
        #expect(service.stop() == 0)
    }

    @Test("are not opened off loopback for probes without TLS")
    func unprotected() async throws {
        let error = await #expect(throws: RunningService.NotReady.self) {
            _ = try await RunningService(arguments: ["--ops", "0.0.0.0:0"])
        }
        #expect(error?.description.contains("--ops-tls") == true)
    }

    @Test("are named as they are seen from outside: in discovery, in the description, in certificates")
    func seenFromOutside() async throws {
        let outside = ["https://auth.example", "https://devices.auth.example:8441"]
        let named = try await RunningService(arguments: ["--base-url", outside[0], "--client-url", outside[1]])
        try await expectScript(
            "Listeners/outside.py", named.clientArguments + ["--outside", outside[0], "--client-outside", outside[1]])
        // By themselves where nothing else is said, with the ports that they took.
        let plain = try await RunningService()
        try await expectScript(
            "Listeners/outside.py",
            plain.clientArguments + ["--outside", plain.publicURL, "--client-outside", plain.clientURL])
    }

    @Test("warn of each host, as it is seen from outside, that the server's certificate is not for")
    func otherHosts() async throws {
        let urls = ["https://auth.example", "https://devices.auth.example:8441"]
        /// What the log says of a service whose certificate is for some hosts.
        func warned(of hosts: [String]?, _ arguments: [String]) async throws -> [String] {
            let service = try await RunningService(arguments: arguments) { directory in
                guard let hosts else { return }
                let made = try await Command.run(
                    try RunningService.product("countersign"),
                    ["keys", "init", "--keys", directory.appending(path: "Keys").path]
                        + hosts.flatMap { ["--host", $0] })
                #expect(made.status == 0, "\(made.errors)")
            }
            return try service.logLines("the server's certificate is not valid for a listener").map { line in
                urls.filter { line.contains("\"url\":\"\($0)\"") }.joined(separator: " ")
            }
        }
        let both = ["--base-url", urls[0], "--client-url", urls[1]]
        #expect(try await warned(of: nil, both) == urls)
        #expect(try await warned(of: ["auth.example", "localhost"], both) == [urls[1]])
        #expect(try await warned(of: ["auth.example", "*.auth.example"], both) == [])
        #expect(try await warned(of: nil, []) == [])
    }

    @Test("say which of them cannot have its address, and why, and nothing else about it")
    func taken() async throws {
        let first = try await RunningService()
        let address = first.clientURL.dropFirst("https://".count)
        let error = await #expect(throws: RunningService.NotReady.self) {
            _ = try await RunningService(arguments: ["--client", String(address)])
        }
        let log = error?.description ?? ""
        #expect(log.contains("The client listener cannot listen on \(address)"))
        #expect(!log.contains("\"level\":\"error\""), "\(log)")
    }

    @Test("end each HTTP/2 answer with its last byte, honour who cancels, end floods, and take their leave in order")
    func frames() async throws {
        let service = try await RunningService()
        try await expectScript("HTTP/http2.py", service.clientArguments)
    }

    @Test("hold little for who takes nothing, end it, and answer everybody else meanwhile")
    func hoard() async throws {
        let service = try await RunningService(policies: ["requests.yaml": "answer_timeout: 4s\n"])
        try await expectScript(
            "Listeners/hoard.py",
            [
                "--public", service.publicURL, "--ca", service.path("Keys/ca.pem").path, "--pid",
                // 40 connections with 100 requests each: 13 to 16 KiB a request that waits, and what a busy machine has not
                // freed yet. With a copy of the answer for each it would be 600 MiB. A debug build holds 72 MiB before
                // (release: 59, and 110 at most, below the 120 that are aimed at).
                "\(service.processIdentifier)", "--hold", "4", "--end", "20", "--connections", "40", "--growth", "100",
            ])
    }

    @Test("hold little for one address that asks for small answers on many connections and takes none")
    func smallHoard() async throws {
        let service = try await RunningService(
            policies: ["requests.yaml": "connections_per_address: 240\n"], arguments: ["--limits", "on"])
        try await expectScript(
            "Listeners/hoard.py",
            [
                "--public", service.publicURL, "--ca", service.path("Keys/ca.pem").path, "--pid",
                // 200 connections with four requests each, and 240 more. Without the limit it is 8,000 requests and 250 MiB.
                "\(service.processIdentifier)", "--path", "/problems", "--hold", "4", "--connections", "200",
                "--growth", "120",
            ])
    }

    @Test(
        "let connections that are idle or stand still give way, of an address, a certificate and of all, but no probe"
    )
    func crowding() async throws {
        let service = try await RunningService(
            policies: [
                "requests.yaml":
                    "maximum_connections: 24\nconnections_per_address: 16\nconnections_per_certificate: 4\n",
                "certification.yaml": "per_hour_per_address: 1000\n",
            ], arguments: ["--limits", "on"])
        try await expectScript("Listeners/crowding.py", service.clientArguments)
        let log = try String(contentsOf: service.path("log"), encoding: .utf8)
        #expect(log.contains("the listener is full") && log.contains("a connection was refused"))
    }

    /// What a service under test has in common where handshakes fail.
    private static let failing = [
        "certification.yaml": "validity: 10s\n", "requests.yaml": "handshake_timeout: 3s\n",
    ]

    @Test("say in an alert or in the clear why a handshake fails, and count and log it")
    func handshakes() async throws {
        let service = try await RunningService(policies: Self.failing)
        try await expectScript(
            "Certificates/handshakes.py", service.clientArguments + ["--log", service.path("log").path])
    }

    @Test("call an expired certificate unknown where their authority is not a root, and serve all others")
    func intermediate() async throws {
        // The TLS library judges by roots alone; the callback in its place cannot choose an alert.
        let service = try await RunningService(policies: Self.failing) { directory in
            let keys = directory.appending(path: "Keys")
            let made = try await Command.run("bash", ["-c", Self.intermediateAuthority, "bash", keys.path])
            #expect(made.status == 0, "\(made.errors)")
        }
        try await expectScript(
            "Certificates/handshakes.py",
            service.clientArguments + ["--log", service.path("log").path, "--expired", "unknown"])
    }

    /// Puts an authority into a directory that a root beside it signed; the root's key is not kept.
    private static let intermediateAuthority = """
        set -e; umask 077; mkdir -p "$1"; cd "$(mktemp -d)"
        ec() { openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }
        ec root.key; ec "$1/ca.key"
        openssl req -x509 -new -key root.key -subj "/CN=Root" -days 30 -out root.pem \
            -addext keyUsage=critical,keyCertSign,cRLSign
        openssl req -new -key "$1/ca.key" -subj "/CN=Intermediate" -out ca.csr
        printf '%s\n' basicConstraints=critical,CA:true keyUsage=critical,keyCertSign,cRLSign \
            subjectKeyIdentifier=hash authorityKeyIdentifier=keyid >extensions
        openssl x509 -req -in ca.csr -CA root.pem -CAkey root.key -set_serial 5 -days 20 -extfile extensions -out ca.pem
        cat ca.pem root.pem >"$1/ca.pem"; chmod 644 "$1/ca.pem"; rm -r "$PWD"
        """

    @Test("speak TLS 1.3 alone to devices where the policy says so")
    func tls13() async throws {
        let service = try await RunningService(policies: ["requests.yaml": "client_tls: tls1.3\n"])
        let port = try #require(service.clientURL.split(separator: ":").last)
        let open = try #require(service.publicURL.split(separator: ":").last)
        func version(_ port: Substring, _ version: String) async throws -> String {
            try await Command.run("openssl", ["s_client", "-connect", "127.0.0.1:\(port)", version]).output
        }
        #expect(try await version(port, "-tls1_2").contains("Cipher is (NONE)"))
        #expect(try await !version(port, "-tls1_3").contains("Cipher is (NONE)"))
        #expect(try await !version(open, "-tls1_2").contains("Cipher is (NONE)"))
    }

    @Test("are not opened with next to no file descriptors, and are smaller where there are few")
    func descriptors() async throws {
        let service = try await RunningService()
        #expect(service.stop() == 0)
        func start(_ descriptors: Int) async throws -> (status: Int32, output: String, errors: String) {
            // Ended as soon as it is ready, unless it ends by itself.
            let script = """
                ulimit -n \(descriptors); "$@" > "$0" &
                for _ in {1..1000}; do grep -qs ready "$0" || ! kill -0 $! 2>/dev/null && break; sleep 0.1; done
                kill $! 2>/dev/null; wait $!; status=$?; cat "$0"; exit $status
                """
            return try await Command.run(
                "bash",
                [
                    "-c", script, service.path("output").path,
                    try RunningService.product("countersign"), "serve", "--keys", service.path("Keys").path,
                    "--policies", service.path("Policies").path, "--store", service.store, "--public", "127.0.0.1:0",
                    "--client", "127.0.0.1:0", "--ops", "127.0.0.1:0",
                ], seconds: 400)
        }
        let few = try await start(400)
        #expect(few.status == 1 && few.errors.contains("400 file descriptors are too few"), "\(few)")
        let some = try await start(2000)
        #expect(some.output.contains("\"ready\":true"), "\(some)")
        // It is for information where all listeners are on loopback.
        let line = some.errors.split(separator: "\n").first { $0.contains("too low for maximum_connections") }
        #expect(line?.contains("\"level\":\"info\"") == true, "\(some)")
    }
}
