" Vim syntax file: NVIDIA PTX
" Made from ptxloom's instruction set data by tools/editors/grammar.py.

if exists("b:current_syntax")
  finish
endif
syntax case match
syntax iskeyword @,48-57,_,$,%

" Of what begins at one place the last that is listed counts, and a keyword before all.
syntax match ptxLabel /\v^\s*[A-Za-z_$%][A-Za-z0-9_$]*\s*:%(:)@!/
syntax match ptxRegister /\v\%[A-Za-z0-9_$]+/
syntax match ptxSpecial /\v\%%(reserved_smem_offset_begin|reserved_smem_offset_cap|reserved_smem_offset_end|is_explicit_cluster|current_graph_exec|perctamemoryoffset|dynamic_smem_size|cluster_nctarank|perctamemorysize|cluster_ctarank|total_smem_size|aggr_smem_size|cluster_nctaid|globaltimer_hi|globaltimer_lo|cluster_ctaid|globaltimer|lanemask_eq|lanemask_ge|lanemask_gt|lanemask_le|lanemask_lt|nclusterid|clusterid|clock_hi|clock64|nwarpid|gridid|laneid|nctaid|warpid|clock|ctaid|nsmid|ntid|smid|tid|pm[0-7]%(_64)?|envreg\d+|reserved_smem_offset_[01])>/
syntax match ptxFunction /\v%(\.%(entry|func)\s+)@30<=[A-Za-z_$%][A-Za-z0-9_$]*/
syntax match ptxGuard /\v\@!?/
syntax match ptxQualifier /\v\.[A-Za-z0-9_]+%(::[A-Za-z0-9_]+)*/
syntax match ptxDirective /\v[A-Za-z0-9_$:]@1<!\.%(abi_preserve_control|blocksareclusters|reqnctapercluster|loc_intermediate|explicitcluster|minperctamemory|maxclusterrank|branchtargets|callprototype|abi_preserve|address_size|maxnctapersm|minnctapersm|calltargets|attribute|language|noreturn|maxnreg|maxntid|reqntid|section|version|visible|common|extern|global|pragma|shared|target|alias|align|const|entry|local|param|file|func|sreg|weak|loc|ptr|reg|tex)>/
syntax match ptxType /\v\.%(pred|tf32|bf16%(x2)?|[busf]\d+%(x\d+)?|u?e\dm\d%(x\d+)?|b\d+x\d+%(_p\d+)?)>:@!/
syntax match ptxNumber /\v<%(0[xX]\x+|0[bB][01]+|\d+)U?>/
syntax match ptxFloat /\v<0[fF]\x{8}>|<0[dD]\x{16}>/
syntax match ptxFloat /\v<\d+\.\d*%([eE][+-]?\d+)?|<\d+[eE][+-]?\d+>/
syntax keyword ptxConstant WARP_SZ
syntax region ptxString start=/"/ skip=/\\./ end=/"/ oneline
syntax match ptxComment /\/\/.*$/
syntax region ptxComment start=/\/\*/ end=/\*\//
syntax keyword ptxOpcode abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brkpt
syntax keyword ptxOpcode brx call clmad clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt cvta discard div dp2a
syntax keyword ptxOpcode dp4a elect ex2 exit fabric fence fma fns getctarank griddepcontrol isspacep istypep ld ldmatrix ldu
syntax keyword ptxOpcode lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul mul24 multimem
syntax keyword ptxOpcode nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set
syntax keyword ptxOpcode setmaxnreg setp shf shfl shl shr sin slct spcompress spdecompress sqrt st stackrestore stacksave
syntax keyword ptxOpcode stmatrix sub subc suld suq sured sust szext tanh tcgen05 tensormap testp tex tld4 trap txq vabsdiff
syntax keyword ptxOpcode vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset
syntax keyword ptxOpcode vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor

highlight default link ptxLabel Label
highlight default link ptxRegister Identifier
highlight default link ptxSpecial Special
highlight default link ptxFunction Function
highlight default link ptxGuard Operator
highlight default link ptxQualifier StorageClass
highlight default link ptxDirective PreProc
highlight default link ptxType Type
highlight default link ptxNumber Number
highlight default link ptxFloat Float
highlight default link ptxConstant Constant
highlight default link ptxString String
highlight default link ptxComment Comment
highlight default link ptxOpcode Statement

let b:current_syntax = "ptx"
