import Crypto

/// A small RDF graph, and its canonical N-Quads (RDF Dataset Canonicalization 1.0).
///
/// Only the first part of the algorithm is implemented: the digest of a blank node's own quads distinguishes it from
/// others. That is enough for graphs in which no two blank nodes have equal quads, such as a credential with its
/// subject and status. The texts of its terms need no escapes, because they are ASCII without quotes and controls.
struct CanonicalGraph {
    enum Term {
        /// A blank node by its number in the graph.
        case node(Int)
        case iri(String)
        case literal(String, type: String)
    }

    private var quads: [(subject: Int, predicate: String, object: Term)] = []

    mutating func add(_ subject: Int, _ predicate: String, _ object: Term) {
        quads.append((subject, predicate, object))
    }

    /// The lines in the order of their bytes, with the nodes named in the order of their digests.
    var canonical: [UInt8] {
        let nodes = Set(quads.map(\.subject)).map { (node: $0, digest: digest(of: $0)) }
            .sorted { $0.digest.lexicographicallyPrecedes($1.digest) }
        let names = Dictionary(uniqueKeysWithValues: nodes.enumerated().map { ($1.node, "c14n\($0)") })
        return lines(of: quads[...]) { names[$0] ?? "" }
    }

    /// The digest of a node's quads, with the node as `a` and any other node as `z`. Its bytes sort like its
    /// hexadecimal digits.
    private func digest(of node: Int) -> [UInt8] {
        let own = quads.filter { quad in
            if case .node(node) = quad.object { true } else { quad.subject == node }
        }
        return Array(SHA256.hash(data: lines(of: own[...]) { $0 == node ? "a" : "z" }))
    }

    private func lines(
        of quads: ArraySlice<(subject: Int, predicate: String, object: Term)>, name: (Int) -> String
    ) -> [UInt8] {
        let lines = quads.map { subject, predicate, object in
            let text =
                switch object {
                case .node(let node): "_:\(name(node))"
                case .iri(let iri): "<\(iri)>"
                case .literal(let value, let type): "\"\(value)\"^^<\(type)>"
                }
            return Array("_:\(name(subject)) <\(predicate)> \(text) .\n".utf8)
        }
        return Array(lines.sorted { $0.lexicographicallyPrecedes($1) }.joined())
    }
}
