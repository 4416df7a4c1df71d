import Encoding
import Fixtures
import Foundation
import NIOCore
import Testing

@testable import API

@Suite("The description of the service")
struct ServiceDocumentTests {
    private func servers(_ text: String) throws -> [String: Int] {
        let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        return paths.values.reduce(into: [:]) { counts, path in
            for server in path["servers"] as? [[String: Any]] ?? [] {
                counts[server["url"] as? String ?? "", default: 0] += 1
            }
        }
    }

    @Test("names each listener as it is seen from outside, also where one is where the other usually is")
    func listeners() throws {
        let usual = try servers(ServiceDocument.document)
        for (open, client) in [
            ("https://auth.example", "https://auth.example:8441/devices"),
            ("https://127.0.0.1:8441", "https://127.0.0.1:8440"),
        ] {
            let text = ServiceDocument.text(ServiceDocument.document, publicURL: open, clientURL: client)
            let found = try servers(text)
            #expect(found[open] == usual["https://127.0.0.1:8440"] && (found[open] ?? 0) > 10)
            #expect(found[client] == usual["https://127.0.0.1:8441"] && (found[client] ?? 0) > 10)
            #expect(found.count == usual.count)
        }
    }

    @Test("is the text of openapi.json")
    func generated() throws {
        let file = RunningService.root.appending(path: "Sources/API/openapi.json")
        #expect(try String(contentsOf: file, encoding: .utf8) == ServiceDocument.document, "run make embed")
    }

    @Test("describes a refusal once if ten operations share it")
    func refusals() throws {
        let document = try StrictJSON.parse(ServiceDocument.document.utf8)
        guard case .object(let paths) = document["paths"],
            case .object(let shared) = document["components"]?["responses"]
        else {
            Issue.record("there are no paths or no shared responses")
            return
        }
        var used: Set<String> = []
        var inFull: [String: Int] = [:]
        for path in paths {
            guard case .object(let methods) = path.value else { continue }
            for method in methods {
                guard case .object(let responses) = method.value["responses"] else { continue }
                for response in responses where response.name >= "400" {
                    if let reference = response.value["$ref"]?.text {
                        used.insert(reference)
                    } else {
                        inFull["\(response.name) \(response.value.jsonText)", default: 0] += 1
                    }
                }
            }
        }
        #expect(used == Set(shared.map { "#/components/responses/\($0.name)" }))
        #expect(inFull.count > 20)
        #expect(inFull.filter { $0.value >= 10 }.keys.sorted() == [], "move it to components/responses")
    }

    @Test("is written once for all who ask")
    func shared() {
        let document = ServiceDocument()
        let buffers = (0..<2).map { _ in document.buffer(publicURL: "https://a.example", clientURL: "https://b.example")
        }
        let places = buffers.map { $0.withUnsafeReadableBytes { $0.baseAddress } }
        #expect(places[0] == places[1])
        let other = document.buffer(publicURL: "https://c.example", clientURL: "https://b.example")
        #expect(other != buffers[0])
    }
}
