import Encoding
import Foundation
import Testing

@Suite("The oblivious function")
struct ObliviousKeyTests {
    private struct Vectors: Decodable {
        let skSm: String
        let pkSm: String
        let vectors: [Vector]

        struct Vector: Decodable {
            let input: String
            let blindedElement: String
            let evaluationElement: String
            let output: String

            private enum CodingKeys: String, CodingKey {
                case input = "Input"
                case blindedElement = "BlindedElement"
                case evaluationElement = "EvaluationElement"
                case output = "Output"
            }
        }
    }

    private static func vectors() throws -> Vectors {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try JSONDecoder().decode(
            Vectors.self, from: Data(contentsOf: tests.appending(path: "Interop/Addresses/voprf_vectors.json")))
    }

    @Test("gives what RFC 9497 A.4.2 says: public key, evaluated elements and outputs")
    func standard() throws {
        let vectors = try Self.vectors()
        let key = try ObliviousKey(scalar: Hex.bytes(vectors.skSm))
        #expect(try key.publicKey == Hex.bytes(vectors.pkSm))
        #expect(vectors.vectors.count == 3)
        for vector in vectors.vectors {
            func parts(_ text: String) -> [[UInt8]] { text.split(separator: ",").map(Hex.bytes) }
            let evaluations = try key.evaluate(parts(vector.blindedElement))
            #expect(evaluations.allSatisfy { $0.count == ObliviousKey.evaluationLength })
            #expect(
                evaluations.map { Array($0.prefix(ObliviousKey.elementLength)) } == parts(vector.evaluationElement))
            let inputs = parts(vector.input).map { String(decoding: $0, as: UTF8.self) }
            #expect(try key.outputs(of: inputs) == parts(vector.output))
        }
    }

    @Test("evaluates points of the curve alone")
    func foreign() throws {
        let key = try ObliviousKey(derivedFrom: .of("a secret"))
        let point = try key.publicKey
        #expect(try key.evaluate([point]).count == 1)
        var beside = point
        // Half of all numbers are no point's: one of the next is none.
        let missed = (1...64).contains { step in
            beside[48] = point[48] &+ UInt8(step)
            return (try? key.evaluate([beside])) == nil
        }
        #expect(missed)
        let prime = [UInt8](repeating: 255, count: 48)
        let foreign: [[UInt8]] = [[], [0], [4] + point.dropFirst(), Array(point.dropLast()), point + [0], [2] + prime]
        for bytes in foreign {
            #expect(throws: ObliviousKey.NoElement.self, "\(bytes)") { try key.evaluate([bytes]) }
        }
    }

    @Test("is another one for another secret, and shows its scalar nowhere")
    func derived() throws {
        let (one, other) = (try ObliviousKey(derivedFrom: .of("1")), try ObliviousKey(derivedFrom: .of("2")))
        #expect(try one.outputs(of: ["x"]) == ObliviousKey(derivedFrom: .of("1")).outputs(of: ["x"]))
        #expect(try one.outputs(of: ["x"]) != other.outputs(of: ["x"]))
        var dumped = ""
        dump(try ObliviousKey(scalar: [UInt8](repeating: 77, count: 48)), to: &dumped)
        #expect(dumped.contains("••••") && !dumped.contains("77"))
        #expect(throws: (any Error).self) { try ObliviousKey(scalar: [UInt8](repeating: 255, count: 48)) }
    }
}
