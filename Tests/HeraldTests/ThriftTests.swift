import Encoding
import Fixtures
import Foundation
import Testing

@testable import Herald

@Suite("Calls of Herald")
struct ThriftTests {
    private static let interface = ThriftInterface.herald

    @Test("have the interface of herald.thrift")
    func generated() throws {
        let file = RunningService.root.appending(path: "Sources/SwiftSDK/Herald/herald.thrift")
        #expect(try String(contentsOf: file, encoding: .utf8) == ThriftInterface.document, "run make embed")
    }

    @Test("are Thrift's binary protocol, strict")
    func wire() throws {
        let call = ThriftMessage(
            .call, name: "f", sequence: 7,
            body: [
                ThriftField(1, .bool(true)), ThriftField(2, .i64(-1)), ThriftField(3, .text("é")),
                ThriftField(4, .list(.structure, [.structure([ThriftField(1, .i32(2))])])),
            ])
        let bytes: [UInt8] =
            [0x80, 1, 0, 1, 0, 0, 0, 1, 0x66, 0, 0, 0, 7] + [2, 0, 1, 1]
            + [10, 0, 2, 255, 255, 255, 255, 255, 255, 255, 255] + [11, 0, 3, 0, 0, 0, 2, 0xC3, 0xA9]
            + [15, 0, 4, 12, 0, 0, 0, 1, 8, 0, 1, 0, 0, 0, 2, 0] + [0]
        #expect(call.bytes == bytes)
        #expect(try ThriftReader.message(bytes) == call)
        for count in bytes.indices {
            #expect(throws: ThriftDefect.length) { try ThriftReader.message(Array(bytes.prefix(count))) }
        }
        #expect(throws: ThriftDefect.length) { try ThriftReader.message(bytes + [0]) }
    }

    @Test("leave out a text with a long run of combining marks, or that is not UTF-8")
    func marks() {
        let run = String(repeating: "\u{302}\u{316}", count: 16)
        #expect(Self.interface.json(.text("e\u{301}"), .text) == .string("e\u{301}"))
        #expect(Self.interface.json(.text("a" + run), .text) == nil)
        #expect(Self.interface.json(.bytes([0xFF]), .text) == nil)
        #expect(Self.interface.json(.text("[\"\(run)\"]"), .json) == nil)
    }

    @Test(
        "of a stranger are bounded before anything is reserved for them",
        arguments: [
            // A version that is not strict, a kind, a name that is no text, a type, a boolean.
            ([0, 0, 0, 1, 0x66, 1, 0, 0, 0, 7, 0], ThriftDefect.content), ([0x80, 1, 0, 5], .content),
            ([0x80, 1, 0, 1, 0, 0, 0, 1, 0xFF, 0, 0, 0, 7, 0], .content), (header + [1, 0, 1], .content),
            (header + [2, 0, 1, 2], .content), (header + [15, 0, 1, 16, 0, 0, 0, 1], .content),
            // A length below 0, a text and a list of two thousand million, a list of lists of nothing.
            (header + [11, 0, 1, 255, 255, 255, 255], .length), (header + [11, 0, 1, 127, 255, 255, 255], .length),
            (header + [15, 0, 1, 2, 127, 255, 255, 255], .tooMuch),
            (header + [15, 0, 1, 2, 255, 255, 255, 255], .length),
            (header + [UInt8](repeatingPattern: [12, 0, 1], 20), .tooMuch),
        ] as [([UInt8], ThriftDefect)])
    func bounded(bytes: [UInt8], defect: ThriftDefect) {
        #expect(throws: defect) { try ThriftReader.message(bytes) }
    }

    private static let header: [UInt8] = [0x80, 1, 0, 1, 0, 0, 0, 1, 0x66, 0, 0, 0, 7]

    @Test("hold 4,096 values at most, however they are divided")
    func values() throws {
        let list = { (count: Int) in ThriftValue.list(.bool, Array(repeating: .bool(true), count: count)) }
        let two = { (one: Int, other: Int) in
            ThriftMessage(
                .call, name: "f", sequence: 0, body: [ThriftField(1, list(one)), ThriftField(2, list(other))])
        }
        #expect(try ThriftReader.message(two(2000, 2094).bytes) == two(2000, 2094))
        #expect(throws: ThriftDefect.tooMuch) { try ThriftReader.message(two(2000, 2095).bytes) }
    }

    @Test("have the interface of herald.thrift, whose annotations name routes and all arguments of a function")
    func interface() throws {
        #expect(Self.interface.functions.count == 16)
        for function in Self.interface.functions.values {
            #expect(function.refusal?.kind == .structure("Refused"), "\(function.name)")
            #expect(
                function.route.contains(/^(GET|POST|PUT|PATCH|DELETE) \/[a-z{}\/]+(\?[a-z&]+)?$/), "\(function.route)")
            for argument in function.arguments {
                if case .structure = argument.kind { continue }
                let isInQuery = function.route.contains(try Regex("[?&]\(argument.name)(&|$)"))
                #expect(
                    function.route.contains("{\(argument.name)}") || isInQuery,
                    "\(argument.name) of \(function.name)")
            }
        }
        for (name, fields) in Self.interface.structures {
            #expect(Set(fields.map(\.id)).count == fields.count, "\(name)")
        }
    }

    @Test(
        "are refused in an interface of another language",
        arguments: [
            "enum A {}", "struct A { x: string a }", "struct A { 1: B b }", "service S { void f() }",
            "struct A { 1: i32",
        ])
    func foreign(text: String) {
        #expect(throws: ThriftInterface.Defect.self) { try ThriftInterface(text) }
    }

    @Test("become JSON of the same names and back; unknown fields and other types are left out")
    func json() throws {
        let event = ThriftInterface.Kind.structure("Event")
        let value = ThriftValue.structure([
            ThriftField(1, .i64(3)), ThriftField(2, .text("a")), ThriftField(3, .i64(1)), ThriftField(99, .bool(true)),
            ThriftField(7, .bool(false)),
            ThriftField(
                8, .list(.structure, [.structure([ThriftField(1, .text("a/b")), ThriftField(3, .bytes([0, 255]))])])),
        ])
        let fields = try #require(Self.interface.structures["Event"])
        guard case .structure(let given) = value else { return }
        let json = JSONValue.object(Self.interface.members(given, as: fields))
        #expect(
            json.jsonText
                == #"{"sequence":3,"id":"a","deleted":false,"parts":[{"type":"a/b","body_base64":"AP8"}]}"#)
        #expect(
            Self.interface.value(json, as: event)
                == .structure(given.filter { $0.id != 99 && $0.id != 3 }))
        #expect(Self.interface.value(.null, as: event) == nil)
        let change = try #require(Self.interface.structures["MetadataChange"])
        #expect(Self.interface.members([ThriftField(1, .text("{"))], as: change).isEmpty)
        #expect(
            Self.interface.members([ThriftField(1, .text(#"{"a":[1]}"#))], as: change)
                == [JSONMember(name: "set", value: .object(["a": .array([.integer(1)])]))])
    }
}

extension [UInt8] {
    fileprivate init(repeatingPattern pattern: [UInt8], _ count: Int) {
        self = [[UInt8]](repeating: pattern, count: count).flatMap { $0 }
    }
}
