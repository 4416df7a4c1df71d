"""Other verifiers of credentials, and whether they accept what is presented to a request."""

import base64

import cbor2
from openvc.keys import P256KeyAgreementKey
from openvc.mdoc import verify_device_response
from openvc.openid4vp import verify_encrypted_vp_response, verify_vp_token
from polaris_oid4vp.sdjwt import verify_presentation
from pymdoccbor.mdoc.verifier import MdocCbor
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, KEMKey
from Wallet.credentials import LICENCE, NAME_SPACE, PERSON, thumbprint

LICENCE_QUERY = {"credentials": [{
    "id": "mdl", "format": "mso_mdoc", "meta": {"doctype_value": LICENCE},
    "claims": [{"path": [NAME_SPACE, name]} for name in ("age_over_18", "age_over_21")]}]}
PERSON_QUERY = {"credentials": [{
    "id": "pid", "format": "dc+sd-jwt", "meta": {"vct_values": [PERSON]}, "claims": [{"path": ["family_name"]}]}]}


def accepts(verify):
    """Whether a verifier returns. They refuse by exceptions of many kinds."""
    try:
        return bool(verify())
    except Exception:  # pylint: disable=broad-except
        return False


def issued(root, part, response):
    """Whether pymdoccbor accepts the issuer's part; `None` for what it does not support. It verifies no device."""
    header, _, payload, _ = part["issuerAuth"]
    if cbor2.loads(header)[1] != -7 or cbor2.loads(cbor2.loads(payload).value)["digestAlgorithm"] != "SHA-256":
        return None
    made = MdocCbor()
    made.loads(data=response)
    return made.verify(trusted_root_certs=[root])


def document(root, response, request):
    """openvc by the transcript that the request demands."""
    session = cbor2.dumps(request.session())
    return accepts(lambda: verify_device_response(
        response, trust_anchors=[root], session_transcript=session, expected_doc_type=LICENCE))


def answer(kind, root, text, request, key):
    """openvc from the encrypted answer of the Digital Credentials API. What Annex C encrypts, pyhpke opens for it."""
    if request.channel == "annex_c":
        return accepts(lambda: document(root, unseal(text, request, key), request))
    anchors = {"mdl": {"trust_anchors": [root], "mdoc_jwk_thumbprint": thumbprint(request.key)},
               "pid": {"x5c_trust_anchors": [root]}}
    query = {"mdl": LICENCE_QUERY, "pid": PERSON_QUERY}
    return accepts(lambda: verify_encrypted_vp_response(
        text, key=P256KeyAgreementKey(key, kid="1"), dcql_query=query[kind], nonce=request.nonce,
        expected_origins=[request.origin], **anchors[kind]))


def unseal(text, request, key):
    """The content of Annex C's encryption, by pyhpke."""
    sealed = cbor2.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))[1]
    suite = CipherSuite.new(KEMId.DHKEM_P256_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES128_GCM)
    context = suite.create_recipient_context(
        sealed["enc"], KEMKey.from_pyca_cryptography_key(key), info=cbor2.dumps(request.session()))
    return context.open(sealed["cipherText"])


def credential(root, presentation, request):
    """openvc and polaris."""
    expected = {"client_id": request.client} if request.channel == "same_device" else {
        "expected_origins": [request.origin]}
    return {
        "openvc": accepts(lambda: verify_vp_token(
            {"pid": [presentation]}, dcql_query=PERSON_QUERY, nonce=request.nonce, x5c_trust_anchors=[root],
            **expected)),
        "polaris": accepts(lambda: verify_presentation(
            presentation, expected_nonce=request.nonce, expected_audience=request.audience(), trust_anchors=[root],
            expected_vct=PERSON).authentic)}
